// Bindings that a restore had to leave, because another config still needed them: they are written
// down, so that they go with that one.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, readOwn, writeOwn } from '../../store/files.ts';
import type { Store } from '../../store/ports.ts';
import type { BindingName } from './bindings.ts';
import { isName } from './pending.ts';

const BYTES_MAX = 4_194_304;

export function keptIn({ paths }: Store): readonly BindingName[] {
  try {
    const text = readOwn(pathOf(paths), BYTES_MAX)?.toString('utf8') ?? '[]';
    const data: unknown = JSON.parse(text);
    return Array.isArray(data) ? data.filter(isName) : [];
  } catch {
    // Nothing that could be taken out is named there.
    return [];
  }
}

/** In place of what was written down before. */
export function keep(bindings: readonly BindingName[], { paths }: Store): void {
  const path = pathOf(paths);
  try {
    if (bindings.length === 0) {
      rmSync(path, { force: true });
      return;
    }
    const names = bindings.map(({ server, variable, secret }) => ({ server, variable, secret }));
    if (ensureFolder(paths.backups) === undefined)
      writeOwn(path, Buffer.from(JSON.stringify(names)));
  } catch {
    // Then they stay until a person takes them out, as they were told.
  }
}

function pathOf({ backups }: Store['paths']): string {
  return join(backups, 'kept-bindings.json');
}

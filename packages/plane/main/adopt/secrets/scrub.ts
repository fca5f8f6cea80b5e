// Copies of a config that earlier commands have kept beside its record, for people: what has moved
// into the store must not stay in them.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_BYTES_MAX } from '../../../clients/store/config-file.ts';
import { readOwn, writeOwn } from '../../../clients/store/files.ts';
import type { Store } from '../../../clients/store/ports.ts';
import type { Move } from './moved.ts';

/** Gives those that could not be changed, and still hold it. */
function scrubCopies(key: string, moves: readonly Move[], { paths }: Store): readonly string[] {
  const holding: string[] = [];
  for (const name of copiesOf(key, paths.backups)) {
    const path = join(paths.backups, name);
    try {
      const text = readOwn(path, CONFIG_BYTES_MAX)?.toString('utf8') ?? '';
      const clean = moves.reduce((left, { value, secret }) => without(left, value(), secret), text);
      if (clean !== text) writeOwn(path, Buffer.from(clean));
    } catch {
      holding.push(path);
    }
  }
  return holding;
}

function copiesOf(key: string, folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(`${key}.`));
  } catch {
    return [];
  }
}

function without(text: string, value: string, secret: string): string {
  const escaped = JSON.stringify(value).slice(1, -1);
  return text.replaceAll(escaped, `sub://${secret}`).replaceAll(value, `sub://${secret}`);
}

export { scrubCopies };

// Copies beside the records, for people: nothing of ours reads them again.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem } from '../types.ts';
import { writeOwn } from './files.ts';
import type { Store } from './ports.ts';
import { systemProblem } from './problem.ts';

/** How many there are of a config: an older `original` may be the only one that is worth anything. */
const KEPT_MAX = { replaced: 1, original: 5 } as const;

interface Aside {
  readonly key: string;
  /** `replaced`: what a merge was made from. `original`: what others have left nothing of. */
  readonly label: keyof typeof KEPT_MAX;
  readonly bytes: Uint8Array;
}

/** Where it is now. */
export function keepAside(
  { key, label, bytes }: Aside,
  { ports, paths }: Store,
): string | ConfigProblem {
  const time = ports
    .now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '');
  const name = `${key}.${label}-${time}`;
  const path = join(paths.backups, name);
  try {
    const others = readdirSync(paths.backups)
      .filter((other) => other.startsWith(`${key}.${label}-`) && other !== name)
      .toSorted();
    writeOwn(path, bytes);
    const tooMany = others.slice(0, Math.max(0, others.length + 1 - KEPT_MAX[label]));
    for (const other of tooMany) rmSync(join(paths.backups, other), { force: true });
    return path;
  } catch (cause) {
    return systemProblem(path, 'written', cause);
  }
}

// Takes our edits out of a config, also out of one that others have changed since.

import type { ConfigProblem } from '../types.ts';
import type { StorePorts } from './ports.ts';
import { byHand, problem } from './problem.ts';
import { isOf } from './record.ts';
import type { ConfigRecord } from './record-text.ts';
import { type EntryPlace, takeOut, type Way } from './take-out.ts';

interface Undo {
  readonly text: string;
  readonly record: ConfigRecord;
  readonly backup: { readonly path: string; readonly text: string };
  readonly sha256: StorePorts['sha256'];
}

export interface Undone {
  /** `same`: the very bytes that were there before us. */
  readonly kind: 'same' | 'merged';
  readonly text: string;
  /** What no longer starts a shim. */
  readonly taken: readonly EntryPlace[];
  /** What others have changed so that it is not ours any more: left as it is. */
  readonly left: readonly EntryPlace[];
  /** What others have removed: only the backup knows it. */
  readonly missing: readonly EntryPlace[];
}

export function undoChanges({ text, record, backup, sha256 }: Undo): Undone | ConfigProblem {
  const bytes = Buffer.from(text);
  const known = [record.base, record.after, ...(record.from === undefined ? [] : [record.from])];
  if (known.some((digest) => isOf(digest, bytes, sha256))) {
    const isBase = text === backup.text;
    const taken = isBase ? [] : record.changes;
    return { kind: 'same', text: backup.text, taken, left: [], missing: [] };
  }
  const taken = takeOut({ text, format: record.format, ways: waysOf(record) });
  if (taken.kind === 'taken') return { ...taken, kind: 'merged' };
  return problem(
    record.path,
    `Our changes cannot be taken out of ${record.path}: ${taken.why}`,
    `${taken.fix} The config as it was before is in the backup. ${byHand(backup.path, record.target)}`,
  );
}

/** An entry may hold what was written last, or what a killed change was about to replace. */
function waysOf({ changes, earlier = [] }: ConfigRecord): readonly Way[] {
  const ways = new Map<string, Way>();
  for (const change of [...changes, ...earlier]) {
    const key = JSON.stringify(change.at);
    const { name, project, at, before, after } = change;
    const pairs = [...(ways.get(key)?.pairs ?? []), { before, after }];
    ways.set(key, { name, ...(project === undefined ? {} : { project }), at, pairs });
  }
  return [...ways.values()];
}

// Makes entries start their own command again. Pure: a text in, a text out, and checked by reading it.

import { definedFields } from '@subluminal/contracts';
import { readShimCommand } from '../shim-command.ts';
import { changeValues, type ValueChange } from '../text/change-values.ts';
import { type ConfigDocument, readDocument } from '../text/document.ts';
import { sameData } from '../text/plain-data.ts';
import type { ConfigFailure, EntryValues, Format, ValuePath, ValueText } from '../types.ts';
import { byHand, configFailure } from './change-store.ts';
import type { ConfigRecord } from './record-text.ts';
import { type ConfigBackup, matchesDigest } from './records.ts';

export interface EntryPlace {
  readonly name: string;
  readonly project?: string;
  readonly at: { readonly command: ValuePath; readonly args: ValuePath };
}

/** An entry, and what we wrote there; no pairs for an entry without a record. */
interface EntryHistory extends EntryPlace {
  readonly pairs: readonly { readonly before: EntryValues; readonly after: EntryValues }[];
}

interface RemoveShimsOptions {
  readonly text: string;
  readonly format: Format;
  readonly ways: readonly EntryHistory[];
}

type ShimRemoval =
  | {
      readonly kind: 'taken';
      readonly text: string;
      readonly taken: readonly EntryPlace[];
      readonly left: readonly EntryPlace[];
      /** Those that are not there any more. */
      readonly missing: readonly EntryPlace[];
    }
  /** Two sentences. */
  | { readonly kind: 'refused'; readonly why: string; readonly fix: string };

/** The changes that free an entry, or why there are none. */
type EntryVerdict = readonly ValueChange[] | 'same' | 'gone' | 'foreign';

export function removeShims({ text, format, ways }: RemoveShimsOptions): ShimRemoval {
  if (ways.length === 0) return { kind: 'taken', text, taken: [], left: [], missing: [] };
  const inside = ways.flatMap(({ at }) => [at.command, at.args]);
  const read = readDocument(text, format, inside);
  if (read.kind === 'broken') {
    const why = `it is broken at line ${read.line}, column ${read.column}: ${read.message}`;
    return { kind: 'refused', why, fix: 'Correct the file and try again.' };
  }
  const { document } = read;
  const verdicts = ways.map((way) => ({ way, verdict: judge(document, way) }));
  const changes = verdicts.flatMap(({ verdict }) => (typeof verdict === 'string' ? [] : verdict));
  const next = changeValues(document, changes, inside);
  if (next === undefined) {
    const why = 'the result would not be what it should.';
    return { kind: 'refused', why, fix: 'Correct the entries by hand.' };
  }
  const chosen = (isChosen: (verdict: EntryVerdict) => boolean) =>
    verdicts.flatMap(({ way, verdict }) => (isChosen(verdict) ? [way] : []));
  return {
    kind: 'taken',
    text: next.text,
    taken: chosen((verdict) => typeof verdict === 'object'),
    left: chosen((verdict) => verdict === 'foreign'),
    missing: chosen((verdict) => verdict === 'gone'),
  };
}

function judge(document: ConfigDocument, way: EntryHistory): EntryVerdict {
  const { at, pairs } = way;
  const command = document.valueAt(at.command);
  const args = document.valueAt(at.args);
  if (command === undefined) return 'gone';
  if (pairs.some(({ before }) => holds({ command, args }, before))) return 'same';
  const pair = pairs.find(({ after }) => holds({ command, args }, after));
  return pair === undefined ? (behindShim(way, command, args) ?? 'foreign') : undoing(at, pair);
}

function holds(
  { command, args }: { readonly command: unknown; readonly args: unknown },
  values: EntryValues,
): boolean {
  return sameData(command, values.command.value) && sameData(args, values.args?.value ?? undefined);
}

function undoing(
  at: EntryPlace['at'],
  { before, after }: EntryHistory['pairs'][number],
): readonly ValueChange[] {
  return [
    changeBack(at.command, before.command, after.command),
    before.args === null
      ? { path: at.args, value: undefined }
      : changeBack(at.args, before.args, after.args),
  ];
}

function changeBack(path: ValuePath, before: ValueText, after: ValueText | null): ValueChange {
  const written = after === null ? undefined : { ours: after.text, before: before.text };
  return { path, value: before.value, ...definedFields({ written }) };
}

/** Others have changed the entry, but it still starts a shim: the server stands behind `--`. */
function behindShim(
  { at, pairs }: EntryHistory,
  command: unknown,
  args: unknown,
): readonly ValueChange[] | undefined {
  if (typeof command !== 'string' || !isWords(args)) return undefined;
  const [program, ...rest] = readShimCommand(command, args)?.command ?? [];
  if (program === undefined) return undefined;
  const hadNone = pairs.length === 0 || pairs.some(({ before }) => before.args === null);
  return [
    { path: at.command, value: program },
    { path: at.args, value: rest.length === 0 && hadNone ? undefined : rest },
  ];
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

// Takes our edits out of a config, also out of one that others have changed since.

interface UndoOptions {
  readonly text: string;
  readonly record: ConfigRecord;
  readonly backup: Pick<ConfigBackup, 'path' | 'bytes'>;
}

export interface UndoneChanges {
  /** `same`: the very bytes that were there before us. */
  readonly kind: 'same' | 'merged';
  readonly text: string;
  /** Entries that no longer start a shim. */
  readonly taken: readonly EntryPlace[];
  /** Entries that others have changed so that they are not ours any more: left as they are. */
  readonly left: readonly EntryPlace[];
  /** Entries that others have removed: only the backup has them. */
  readonly missing: readonly EntryPlace[];
}

export function undoChanges({ text, record, backup }: UndoOptions): UndoneChanges | ConfigFailure {
  const bytes = Buffer.from(text);
  const { base, after, from = after } = record;
  if ([base, after, from].some((digest) => matchesDigest(digest, bytes))) {
    const before = backup.bytes.toString('utf8');
    const taken = text === before ? [] : record.changes;
    return { kind: 'same', text: before, taken, left: [], missing: [] };
  }
  const taken = removeShims({ text, format: record.format, ways: waysOf(record) });
  if (taken.kind === 'taken') return { ...taken, kind: 'merged' };
  return configFailure(
    record.path,
    `Our changes cannot be taken out of ${record.path}: ${taken.why}`,
    `${taken.fix} The config as it was before is in the backup. ${byHand(backup.path, record.target)}`,
  );
}

/** An entry may hold what was written last, or what a killed change was about to replace. */
function waysOf({ changes, earlier = [] }: ConfigRecord): readonly EntryHistory[] {
  const ways = new Map<string, EntryHistory>();
  for (const change of [...changes, ...earlier]) {
    const key = JSON.stringify(change.at);
    const { before, after, ...place } = change;
    ways.set(key, { ...place, pairs: [...(ways.get(key)?.pairs ?? []), { before, after }] });
  }
  return [...ways.values()];
}

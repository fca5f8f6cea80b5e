// Makes entries start their own command again. Pure: a text in, a text out, and checked by reading it.

import { readShimCommand } from '../shim-command.ts';
import { type ConfigDocument, documentIn, readDocument } from '../text/document.ts';
import { applyEdits, removeValue, replaceValue } from '../text/edits.ts';
import { copyFor, dropValue, sameData, setValue } from '../text/plain-data.ts';
import type { ConfigFailure, Edit, EntryValues, Format, ValuePath, ValueText } from '../types.ts';
import { byHand, configFailure } from './change-store.ts';
import type { ConfigRecord } from './record-text.ts';
import { type ConfigBackup, matchesDigest } from './records.ts';

/** One entry of a config. */
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

/** What an entry is to hold. */
interface EntryGoal {
  readonly command: ValueGoal;
  /** Null where it is to have none. */
  readonly args: ValueGoal | null;
}

interface ValueGoal {
  readonly value: string | readonly string[];
  /** How it was written before, for as long as what stands there is written as we did. */
  readonly written?: { readonly ours: string; readonly before: string };
}

type EntryVerdict = EntryGoal | 'same' | 'gone' | 'foreign';

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
  const goals = verdicts.flatMap(({ way: { at }, verdict }) =>
    typeof verdict === 'string' ? [] : [{ at, ...verdict }],
  );
  const next = edited(document, goals, inside);
  if (next === undefined) {
    const why = 'the result would not be what it should.';
    return { kind: 'refused', why, fix: 'Correct the entries by hand.' };
  }
  const chosen = (isChosen: (verdict: EntryVerdict) => boolean) =>
    verdicts.flatMap(({ way, verdict }) => (isChosen(verdict) ? [way] : []));
  return {
    kind: 'taken',
    text: next,
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
  return pair === undefined ? (behindShim(way, command, args) ?? 'foreign') : goalOf(pair);
}

function holds(
  { command, args }: { readonly command: unknown; readonly args: unknown },
  values: EntryValues,
): boolean {
  return sameData(command, values.command.value) && sameData(args, values.args?.value ?? undefined);
}

function goalOf({ before, after }: EntryHistory['pairs'][number]): EntryGoal {
  const args = before.args === null ? null : wanted(before.args, after.args);
  return { command: wanted(before.command, after.command), args };
}

function wanted(before: ValueText, after: ValueText | null): ValueGoal {
  if (after === null) return { value: before.value };
  return { value: before.value, written: { ours: after.text, before: before.text } };
}

/** Others have changed the entry, but it still starts a shim: the server stands behind `--`. */
function behindShim(way: EntryHistory, command: unknown, args: unknown): EntryGoal | undefined {
  if (typeof command !== 'string' || !isWords(args)) return undefined;
  const [program, ...rest] = readShimCommand(command, args)?.command ?? [];
  if (program === undefined) return undefined;
  const hadNone = way.pairs.some(({ before }) => before.args === null);
  const isBare = rest.length === 0 && (hadNone || way.pairs.length === 0);
  return { command: { value: program }, args: isBare ? null : { value: rest } };
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

/** Replaces values first, then removes: two edits of one entry could otherwise overlap. */
function edited(
  document: ConfigDocument,
  goals: readonly (EntryGoal & Pick<EntryPlace, 'at'>)[],
  inside: readonly ValuePath[],
): string | undefined {
  const wants = goals.flatMap(({ at, command, args }) => [
    { path: at.command, goal: command },
    ...(args === null ? [] : [{ path: at.args, goal: args }]),
  ]);
  const gone = goals.flatMap(({ at, args }) => (args === null ? [at.args] : []));
  if (wants.some(({ path }) => document.spanAt(path) === undefined)) return undefined;
  const expected = copyFor(document.value, [...wants.map(({ path }) => path), ...gone]);
  for (const { path, goal } of wants) setValue(expected, path, goal.value);
  for (const path of gone) dropValue(expected, path);
  const edits = wants.map(({ path, goal }) => editOf(document, path, goal));
  const between = documentIn(applyEdits(document.text, edits), document.format, inside);
  if (between === undefined || gone.some((path) => between.spanAt(path) === undefined)) {
    return undefined;
  }
  const removals = gone.map((path) => removeValue(between, path));
  const last = documentIn(applyEdits(between.text, removals), document.format, inside);
  return last !== undefined && sameData(last.value, expected) ? last.text : undefined;
}

function editOf(document: ConfigDocument, path: ValuePath, { value, written }: ValueGoal): Edit {
  const span = document.spanAt(path);
  if (span !== undefined && written?.ours === document.text.slice(span.start, span.end)) {
    return { start: span.start, end: span.end, text: written.before };
  }
  return replaceValue(document, path, typeof value === 'string' ? value : [...value]);
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

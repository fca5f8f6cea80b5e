// Makes entries start their own command again. Pure: a text in, a text out, and checked by reading it.

import { definedFields } from '@subluminal/contracts';
import { removeBlock, removeHooks } from '../hooks/edit-hooks.ts';
import { hooksOf } from '../hooks/registry.ts';
import { readShimCommand } from '../shim-command.ts';
import { undoSettings } from '../text/change-settings.ts';
import { changeValues, type ValueChange } from '../text/change-values.ts';
import { type ConfigDocument, readDocument } from '../text/document.ts';
import { type EntryReplacement, replaceEntries } from '../text/entry-text.ts';
import { sameData } from '../text/plain-data.ts';
import type { ConfigFailure, EntryValues, Format, ValuePath, ValueText } from '../types.ts';
import { byHand, configFailure } from './change-store.ts';
import type { ConfigRecord } from './record-text.ts';
import { type ConfigBackup, matchesDigest } from './records.ts';
import {
  type EntryOfBackup,
  entryBefore,
  entryOfBackup,
  type FreedEntry,
  freedEntry,
} from './undo-entry.ts';

export interface EntryPlace {
  readonly name: string;
  readonly project?: string;
  readonly at: { readonly command: ValuePath; readonly args: ValuePath };
  /** What an entry without a record becomes, where its shim stands before an address. */
  readonly freed?: FreedEntry;
}

interface EntryPair {
  readonly before: EntryValues | null;
  readonly after: EntryValues;
  readonly entry?: EntryOfBackup;
}

/** An entry, and what we wrote there; no pairs for an entry without a record. */
interface EntryHistory extends EntryPlace {
  readonly pairs: readonly EntryPair[];
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
type EntryVerdict =
  | { readonly values: readonly ValueChange[] }
  | { readonly entry: EntryReplacement }
  | 'same'
  | 'gone'
  | 'foreign';

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
  const freed = verdicts.flatMap(({ verdict }) => (typeof verdict === 'string' ? [] : [verdict]));
  const changes = freed.flatMap((one) => ('values' in one ? one.values : []));
  const entries = freed.flatMap((one) => ('entry' in one ? [one.entry] : []));
  const between = changeValues(document, changes, inside);
  const next = between && replaceEntries(between, entries, inside);
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
  const texts = pairs.flatMap(({ entry }) => entry ?? []);
  if (texts.some((one) => entryBefore(document, one) === 'same')) return 'same';
  if (command === undefined) return texts.length > 0 && isThere(document, at) ? 'foreign' : 'gone';
  if (pairs.some(({ before }) => before && holds({ command, args }, before))) return 'same';
  const pair = pairs.find(({ after }) => holds({ command, args }, after));
  const entry = freedEntryOf(document, way, pair);
  if (entry !== undefined) return { entry };
  const values = pair?.before
    ? undoing(at, pair.before, pair.after)
    : behindShim(way, command, args);
  return values === undefined ? 'foreign' : { values };
}

function isThere(document: ConfigDocument, at: EntryPlace['at']): boolean {
  return document.valueAt(at.command.slice(0, -1)) !== undefined;
}

/** An entry whose shim stands before an address; undefined for any other. */
function freedEntryOf(
  document: ConfigDocument,
  { at, pairs, freed }: EntryHistory,
  pair: EntryPair | undefined,
): EntryReplacement | undefined {
  const [command, args] = [document.valueAt(at.command), document.valueAt(at.args)];
  if (typeof command !== 'string' || !isWords(args)) return undefined;
  const remote = readShimCommand(command, args)?.remote;
  if (remote === undefined) return undefined;
  if (pairs.length === 0) return freed && freedEntry(document, freed, remote.url);
  const known = pair?.entry ?? pairs.find(({ entry }) => entry !== undefined)?.entry;
  const back = known && entryBefore(document, known);
  return typeof back === 'object' ? back : undefined;
}

function holds(
  { command, args }: { readonly command: unknown; readonly args: unknown },
  values: EntryValues,
): boolean {
  return sameData(command, values.command.value) && sameData(args, values.args?.value ?? undefined);
}

function undoing(
  at: EntryPlace['at'],
  before: EntryValues,
  after: EntryValues,
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
  const hadNone = pairs.length === 0 || pairs.some(({ before }) => before?.args === null);
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
  const original = backup.bytes.toString('utf8');
  const taken =
    record.settings === undefined
      ? withoutEntries(text, record, original)
      : withoutSettings(text, record, original);
  if (taken.kind === 'taken') return { ...taken, kind: 'merged' };
  return configFailure(
    record.path,
    `Our changes cannot be taken out of ${record.path}: ${taken.why}`,
    `${taken.fix} The config as it was before is in the backup. ${byHand(backup.path, record.target)}`,
  );
}

/** Shims and hooks. */
function withoutEntries(text: string, record: ConfigRecord, base: string): ShimRemoval {
  const { format } = record;
  const shims = removeShims({ text, format, ways: waysOf(record, base) });
  return shims.kind === 'taken' ? withoutHooks(shims, record, base) : shims;
}

function withoutHooks(
  taken: Extract<ShimRemoval, { kind: 'taken' }>,
  { hooks, client, format }: ConfigRecord,
  base: string,
): ShimRemoval {
  const known = hooksOf(client, hooks?.isManaged);
  if (hooks === undefined || known === undefined) return taken;
  const { text } = taken;
  const out =
    hooks.block === undefined
      ? removeHooks({ text, format }, known, base)
      : removeBlock({ text, format }, hooks.block);
  if (out.kind === 'edited') return { ...taken, text: out.text };
  return { kind: 'refused', why: out.why, fix: 'Correct the file and try again.' };
}

function withoutSettings(
  text: string,
  { format, settings }: ConfigRecord,
  base: string,
): ShimRemoval {
  const nothing = { taken: [], left: [], missing: [] };
  if (settings === undefined) return { kind: 'taken', text, ...nothing };
  const undone = undoSettings({ text, format, record: settings, base });
  if (undone.kind === 'refused') return { ...undone, fix: 'Correct the settings by hand.' };
  const left = undone.left.map((path) => {
    return { name: path.join('.'), at: { command: path, args: path } };
  });
  return { kind: 'taken', text: undone.text, ...nothing, left };
}

/** An entry may hold what was written last, or what a killed change was about to replace. */
function waysOf(
  { changes, earlier = [], format }: ConfigRecord,
  base: string,
): readonly EntryHistory[] {
  const ways = new Map<string, EntryHistory>();
  for (const change of [...changes, ...earlier]) {
    const key = JSON.stringify(change.at);
    const { before, after, entry: replaced, ...place } = change;
    const entry = replaced && entryOfBackup(base, format, replaced);
    const pair = { before, after, ...definedFields({ entry }) };
    ways.set(key, { ...place, pairs: [...(ways.get(key)?.pairs ?? []), pair] });
  }
  return [...ways.values()];
}

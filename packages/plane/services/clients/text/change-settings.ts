// Changes settings of a client, and takes the changes back. Pure: a text in, a text out, and checked by
// reading it. Comments and all other bytes stay.
import { isObject } from '@subluminal/contracts';
import type { SettingsChange } from '@subluminal/core/sandbox';
import { applyPatch, createTwoFilesPatch } from 'diff';
import { readDocument } from './document.ts';
import { changeJsonText, revertJsonText } from './json-settings.ts';
import { sameData, valueAt } from './plain-data.ts';
import { changeTomlText } from './toml-settings.ts';
import type { Format, ValuePath } from './tree.ts';

/** A change that was made, and what was there before it. */
export type SettingsEdit = ValueEdit | ListEdit;

interface EditPlace {
  readonly path: readonly string[];
  /** How many tables on the way there were. */
  readonly had: number;
}

export interface ValueEdit extends EditPlace {
  /** Absent where there was nothing. */
  readonly before?: unknown;
  /** Absent where it was dropped. */
  readonly after?: unknown;
}

interface ListEdit extends EditPlace {
  readonly added: readonly string[];
  /** There was no list. */
  readonly isNew: boolean;
}

/** How settings that we have changed become again what they were. */
export interface SettingsRecord {
  readonly edits: readonly SettingsEdit[];
  /** From the new text to the old one, for a file that others have changed elsewhere. */
  readonly patch: string;
}

export interface ChangedSettings {
  readonly kind: 'changed';
  readonly text: string;
  readonly record: SettingsRecord;
}

export interface RefusedSettings {
  readonly kind: 'refused';
  /** A sentence. */
  readonly why: string;
}

interface SettingsText {
  readonly text: string;
  readonly format: Format;
}

/** The settings as data; none in an empty file. */
export function settingsIn({
  text,
  format,
}: SettingsText): { readonly [key: string]: unknown } | RefusedSettings {
  if (text.trim() === '') return {};
  const read = readDocument(text, format);
  if (read.kind === 'broken') {
    const { line, column, message } = read;
    return refused(`it is broken at line ${line}, column ${column}: ${message}`);
  }
  const { value } = read.document;
  return isObject(value) ? value : refused('it is no object.');
}

export function changeSettings(
  { text, format }: SettingsText,
  changes: readonly SettingsChange[],
): ChangedSettings | RefusedSettings {
  const before = settingsIn({ text, format });
  if (isRefused(before)) return before;
  const misfit = misfitIn(before, changes);
  if (misfit !== undefined) return refused(misfit);
  const edits = changes.flatMap((change) => editsFor(before, change));
  const next = writeEdits({ text, format }, edits);
  const after = next === undefined ? undefined : settingsIn({ text: next, format });
  if (next === undefined || after === undefined || isRefused(after) || !holds(after, edits)) {
    return refused('the result would not be what it should.');
  }
  if (!sameData(undoneData(after, edits), before)) {
    return refused('the result would not be what it should.');
  }
  return { kind: 'changed', text: next, record: { edits, patch: patchBetween(next, text) } };
}

export function isRefused(value: object): value is RefusedSettings {
  return 'kind' in value && value.kind === 'refused' && 'why' in value;
}

function refused(why: string): RefusedSettings {
  return { kind: 'refused', why };
}

/** What stands in the way of a path. */
function misfitIn(settings: object, changes: readonly SettingsChange[]): string | undefined {
  for (const change of changes) {
    for (let length = 1; length < change.path.length; length += 1) {
      const above = change.path.slice(0, length);
      const value = valueAt(settings, above);
      if (value !== undefined && !isObject(value)) return `\`${above.join('.')}\` is no object.`;
    }
    const now = valueAt(settings, change.path);
    const name = change.path.join('.');
    if ('add' in change && now !== undefined && !Array.isArray(now)) {
      return `\`${name}\` is no list.`;
    }
    // Somebody else's: only what we have made ourselves is taken back first.
    if ('set' in change && isObject(change.set) && now !== undefined) {
      return `\`${name}\` is there already.`;
    }
  }
  return undefined;
}

function editsFor(settings: object, change: SettingsChange): readonly SettingsEdit[] {
  const { path } = change;
  const now = valueAt(settings, path);
  const missing = path.findIndex((_key, at) => !isObject(valueAt(settings, path.slice(0, at + 1))));
  const place = { path, had: Math.max(0, missing) };
  const before = now === undefined ? {} : { before: now };
  if ('drop' in change) return now === undefined ? [] : [{ ...place, ...before }];
  if ('set' in change) {
    return sameData(now, change.set) ? [] : [{ ...place, ...before, after: change.set }];
  }
  const list: readonly unknown[] = Array.isArray(now) ? now : [];
  const added = change.add.filter((text) => !list.includes(text));
  return added.length === 0 ? [] : [{ ...place, added, isNew: now === undefined }];
}

function writeEdits(
  { text, format }: SettingsText,
  edits: readonly SettingsEdit[],
): string | undefined {
  if (edits.length === 0) return text;
  return format === 'toml' ? changeTomlText(text, edits) : changeJsonText(text, edits);
}

/** Whether all of these changes are still there. */
export function holds(settings: object, edits: readonly SettingsEdit[]): boolean {
  return edits.every((edit) => {
    const now = valueAt(settings, edit.path);
    if (!('added' in edit)) return sameData(now, edit.after);
    return Array.isArray(now) && edit.added.every((text) => now.includes(text));
  });
}

function patchBetween(from: string, to: string): string {
  return createTwoFilesPatch('a', 'b', from, to, '', '', { context: 0 });
}

// Takes the changes back out of settings that others have changed since.

interface UndoSettings extends SettingsText {
  readonly record: SettingsRecord;
  /** The settings as they were before us. */
  readonly base: string;
}

export type UndoneSettings =
  | { readonly kind: 'undone'; readonly text: string; readonly left: readonly ValuePath[] }
  | RefusedSettings;

export function undoSettings({ text, format, record, base }: UndoSettings): UndoneSettings {
  const now = settingsIn({ text, format });
  if (isRefused(now)) return now;
  const { edits } = record;
  const wanted = undoneData(now, edits);
  const left = edits.filter((edit) => !isUndoable(now, edit)).map(({ path }) => path);
  const isRight = (next: string | false | undefined): next is string => {
    if (typeof next !== 'string') return false;
    const read = settingsIn({ text: next, format });
    return !isRefused(read) && sameData(read, wanted);
  };
  const texts = [
    () => (format === 'toml' ? undefined : revertJsonText(text, backwards(now, edits))),
    () => applyPatch(text, record.patch, { fuzzFactor: 0 }),
  ];
  for (const make of texts) {
    const next = make();
    if (isRight(next)) return { kind: 'undone', text: asBefore(next, base), left };
  }
  return refused('others have changed it where our settings stand.');
}

/** Where only blanks differ, the old ones come back. */
function asBefore(text: string, base: string): string {
  const plain = (one: string) => one.replaceAll(/\s/g, '') || '{}';
  return plain(text) === plain(base) ? base : text;
}

/** Only what is still as we have left it. */
function isUndoable(settings: object, edit: SettingsEdit): boolean {
  const now = valueAt(settings, edit.path);
  return 'added' in edit ? Array.isArray(now) : sameData(now, edit.after);
}

/** The edits that take these back; those of lists that are not empty then take out items alone. */
function backwards(settings: object, edits: readonly SettingsEdit[]): readonly ValueEdit[] {
  return edits
    .toReversed()
    .filter((edit) => isUndoable(settings, edit))
    .map((edit) => {
      const { path, had } = edit;
      if (!('added' in edit)) {
        return { path, had, ...('before' in edit && { after: edit.before }) };
      }
      const now = valueAt(settings, path);
      const list: readonly unknown[] = Array.isArray(now) ? now : [];
      const rest = list.filter((item) => !isOneOf(item, edit.added));
      return { path, had, ...((rest.length > 0 || !edit.isNew) && { after: rest }) };
    });
}

function isOneOf(item: unknown, texts: readonly string[]): boolean {
  return typeof item === 'string' && texts.includes(item);
}

/** The settings as they would be without our changes; tables that were made for them go as well. */
function undoneData(settings: object, edits: readonly SettingsEdit[]): unknown {
  let data: unknown = structuredClone(settings);
  for (const { path, had, ...edit } of backwards(settings, edits)) {
    data = 'after' in edit ? withValue(data, path, edit.after) : withoutValue(data, path, had);
  }
  return data;
}

function withValue(data: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const table = isObject(data) ? data : {};
  return { ...table, [key]: withValue(table[key], rest, value) };
}

function withoutValue(data: unknown, [key, ...rest]: readonly string[], had: number): unknown {
  if (key === undefined || !isObject(data)) return data;
  const { [key]: inner, ...others } = data;
  if (rest.length === 0) return others;
  const left = withoutValue(inner, rest, had - 1);
  const isEmpty = isObject(left) && Object.keys(left).length === 0;
  return isEmpty && had < 1 ? others : { ...data, [key]: left };
}

/** Every value that was changed; of a table, those in it. */
export function editedPaths({ edits }: SettingsRecord): readonly ValuePath[] {
  return edits.flatMap((edit) => {
    const values = 'added' in edit ? [edit.added] : [edit.before, edit.after];
    return values.flatMap((value) => leaves(edit.path, value));
  });
}

function leaves(path: ValuePath, value: unknown): readonly ValuePath[] {
  if (!isObject(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves([...path, key], inner));
}

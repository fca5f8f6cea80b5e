// Writes changes of settings into JSON: before what is there, on lines of their own where it has lines.
import { isObject } from '@subluminal/contracts';
import { applyEdits, type FormattingOptions, modify, parse } from 'jsonc-parser';
import type { SettingsEdit, ValueEdit } from './change-settings.ts';
import { type ConfigDocument, documentIn } from './document.ts';
import { applyEdits as applyTextEdits, lineBreakOf, removeValue, replaceValue } from './edits.ts';
import { valueAt } from './plain-data.ts';
import type { Edit } from './tree.ts';

export function changeJsonText(text: string, edits: readonly SettingsEdit[]): string {
  let next = text.trim() === '' ? '{}\n' : text;
  const formattingOptions = styleOf(next);
  const set = (path: readonly (string | number)[], value: unknown, isArrayInsertion = false) => {
    const options = { formattingOptions, isArrayInsertion, getInsertionIndex: () => 0 };
    next = applyEdits(next, modify(next, [...path], value, options));
  };
  // Each is put before what is there, so the first one last.
  for (const edit of edits.toReversed()) {
    const { path } = edit;
    if (!('added' in edit)) set(path, edit.after);
    else if (edit.isNew) set(path, edit.added);
    else for (const one of edit.added.toReversed()) set([...path, 0], one, true);
  }
  return next;
}

/** Takes values out or puts old ones back; comments of others stay. Undefined where that cannot be. */
export function revertJsonText(text: string, edits: readonly ValueEdit[]): string | undefined {
  let next = text;
  for (const { path, had, after } of edits) {
    const whole = after === undefined ? emptyAbove(next, path, had) : path;
    const document = documentIn(next, 'jsonc');
    const span = document?.spanAt(whole);
    if (document === undefined || span === undefined) return undefined;
    const edit =
      after === undefined ? removeValue(document, whole) : valueEdit(document, path, after);
    next = applyTextEdits(next, [edit]);
  }
  return next;
}

function valueEdit(document: ConfigDocument, path: readonly string[], value: unknown): Edit {
  if (isTexts(value)) return replaceValue(document, path, value);
  const span = document.spanAt(path);
  if (span === undefined) throw new Error('there is no value to put back');
  return { ...span, text: JSON.stringify(value) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** The value, or the highest table above it that holds nothing else and was made for it. */
function emptyAbove(text: string, path: readonly string[], had: number): readonly string[] {
  const value: unknown = parse(text);
  let empty = path;
  for (let length = path.length - 1; length > had; length -= 1) {
    const table = valueAt(value, path.slice(0, length));
    if (!isObject(table) || Object.keys(table).length > 1) break;
    empty = path.slice(0, length);
  }
  return empty;
}

function styleOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: lineBreakOf(text) };
}

// Writes changes of settings into JSON, and takes them back: what is inserted goes to the last byte.
import { isObject } from '@subluminal/contracts';
import type { SettingsEdit, ValueEdit } from './change-settings.ts';
import { type ConfigDocument, documentIn } from './document.ts';
import { applyEdits, removeValue } from './edits.ts';
import { insertItem, insertProperty, removeItem } from './json-items.ts';
import { valueAt } from './plain-data.ts';
import type { Edit, ValuePath } from './tree.ts';

const FORMAT = 'jsonc';

/** Undefined where that cannot be done. */
export function changeJsonText(text: string, edits: readonly SettingsEdit[]): string | undefined {
  const editor = editorOf(text.trim() === '' ? '{}\n' : text);
  for (const edit of edits) {
    const { path } = edit;
    if (!('added' in edit)) editor.set(path, edit.after);
    else if (edit.isNew) editor.set(path, edit.added);
    else for (const one of edit.added) editor.apply((document) => insertItem(document, path, one));
  }
  return editor.text();
}

/** Takes values out or puts old ones back; comments of others stay. */
export function revertJsonText(text: string, edits: readonly ValueEdit[]): string | undefined {
  const editor = editorOf(text);
  for (const { path, had, after } of edits) {
    const now = editor.at(path);
    if (after === undefined) {
      editor.apply((document) => removeValue(document, madeFor(document, path, had)));
    } else if (Array.isArray(after) && Array.isArray(now)) {
      const kept = new Set<unknown>(after);
      const gone = now.flatMap((item: unknown, at) => (kept.has(item) ? [] : [at]));
      for (const at of gone.toReversed()) {
        editor.apply((document) => removeItem(document, [...path, at]));
      }
    } else editor.set(path, after);
  }
  return editor.text();
}

/** The value, or the highest table above it that holds nothing else and was made for it. */
function madeFor({ value }: ConfigDocument, path: readonly string[], had: number): ValuePath {
  let whole = path;
  for (let length = path.length - 1; length > had; length -= 1) {
    const table = valueAt(value, path.slice(0, length));
    if (!isObject(table) || Object.keys(table).length > 1) break;
    whole = path.slice(0, length);
  }
  return whole;
}

/** Makes one edit after the other, until one cannot be made. */
function editorOf(start: string) {
  let document = documentIn(start, FORMAT);
  const at = (path: ValuePath): unknown => document?.valueAt(path);
  const apply = (makeEdit: (document: ConfigDocument) => Edit): void => {
    if (document === undefined) return;
    document = documentIn(applyEdits(document.text, [makeEdit(document)]), FORMAT);
  };
  return {
    at,
    apply,
    text: () => document?.text,
    set(path: readonly string[], value: unknown): void {
      const span = document?.spanAt(path);
      if (span !== undefined) return apply(() => ({ ...span, text: JSON.stringify(value) }));
      // Tables that are missing on the way are made with it.
      let [place, whole] = [path, value];
      while (place.length > 1 && at(place.slice(0, -1)) === undefined) {
        whole = { [place.at(-1) ?? '']: whole };
        place = place.slice(0, -1);
      }
      apply((current) => insertProperty(current, place, whole));
    },
  };
}

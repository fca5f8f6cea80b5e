// Changes values of a config, leaves every other byte as it is, and checks the result by reading it.
import { type ConfigDocument, documentIn } from './document.ts';
import { applyEdits, insertAfter, removeValue, replaceValue, type Writable } from './edits.ts';
import { copyFor, dropValue, sameData, setValue } from './plain-data.ts';
import type { Edit, ValuePath } from './tree.ts';

export interface ValueChange {
  readonly path: ValuePath;
  /** Undefined takes the property out. */
  readonly value: Writable | undefined;
  /** The property that a new one is inserted behind. */
  readonly behind?: ValuePath;
  /** How the value was written before; used while the text there is still ours. */
  readonly written?: { readonly ours: string; readonly before: string };
}

/** Undefined where the result would not be exactly what is wanted. */
export function changeValues(
  document: ConfigDocument,
  changes: readonly ValueChange[],
  inside: readonly ValuePath[],
): ConfigDocument | undefined {
  const { text, format, value } = document;
  const paths = changes.map(({ path }) => path);
  const expected = copyFor(value, paths);
  const edits: Edit[] = [];
  const gone: ValuePath[] = [];
  for (const change of changes) {
    if (change.value === undefined) {
      dropValue(expected, change.path);
      gone.push(change.path);
      continue;
    }
    const edit = editOf(document, change, change.value);
    if (edit === undefined) return undefined;
    edits.push(edit);
    setValue(expected, change.path, change.value);
  }
  // Properties go last: two edits of one entry could otherwise overlap.
  const between = documentIn(applyEdits(text, edits), format, inside);
  if (between === undefined || gone.some((path) => between.spanAt(path) === undefined)) {
    return undefined;
  }
  const removals = gone.map((path) => removeValue(between, path));
  const last = documentIn(applyEdits(between.text, removals), format, inside);
  return last !== undefined && sameData(last.value, expected) ? last : undefined;
}

function editOf(
  document: ConfigDocument,
  { path, behind, written }: ValueChange,
  value: Writable,
): Edit | undefined {
  if (behind !== undefined) {
    return insertAfter(document, behind, { key: String(path.at(-1)), value });
  }
  const span = document.spanAt(path);
  if (span === undefined) return undefined;
  const isOurs = written?.ours === document.text.slice(span.start, span.end);
  return isOurs ? { ...span, text: written.before } : replaceValue(document, path, value);
}

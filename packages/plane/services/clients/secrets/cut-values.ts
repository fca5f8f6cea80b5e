// Takes values out of a config so that they can be put back to the last byte.
// Pure: a text in, a text out, and checked by reading it.
import type { CutText, Edit, Format, ValuePath } from '../index.ts';
import { type ConfigDocument, documentIn } from '../text/document.ts';
import { applyEdits, removeValue } from '../text/edits.ts';
import { sameData, valueAt, withoutValues } from '../text/plain-data.ts';

interface CutTarget {
  readonly path: ValuePath;
  readonly value: string;
}

interface CutOptions<T extends CutTarget> {
  readonly format: Format;
  readonly targets: readonly T[];
}

interface CutAll<T extends CutTarget> {
  readonly text: string;
  /** In the order of the text, in which they were cut; they go back in the opposite one. */
  readonly cuts: readonly { readonly target: T; readonly cut: CutText }[];
  /** What has another value by now, or could not be put back as it stands. */
  readonly left: readonly T[];
}

/** All values at once: each look at a config takes its time, and configs can be large. */
export function cutAll<T extends CutTarget>(text: string, cutting: CutOptions<T>): CutAll<T> {
  const all = cutInRounds(text, cutting);
  if (isRight(text, cutting, all)) return all;
  // One of them is the reason: each by itself.
  const nothing: CutAll<T> = { text, cuts: [], left: [] };
  const { targets } = cutting;
  if (targets.length < 2) return { ...nothing, left: targets };
  return targets.reduce((done, target) => {
    const one = cutAll(done.text, { ...cutting, targets: [target] });
    return {
      text: one.text,
      cuts: [...done.cuts, ...one.cuts],
      left: [...done.left, ...one.left],
    };
  }, nothing);
}

/** Nothing but the values may be gone, and they must come back to the byte. */
function isRight<T extends CutTarget>(
  text: string,
  { format, targets }: CutOptions<T>,
  { text: next, cuts }: CutAll<T>,
): boolean {
  const inside = targets.map(({ path }) => path);
  const [before, after] = [text, next].map((one) => documentIn(one, format, inside));
  if (before === undefined || after === undefined) return false;
  const paths = cuts.map(({ target }) => target.path);
  if (!isSameBut(before.value, after.value, paths)) return false;
  const back = cuts.map(({ target: { value }, cut }) => ({ value, cut }));
  return uncutAll(next, back, format) === text;
}

interface MadeCut<T> {
  readonly target: T;
  readonly round: number;
  /** Its place is that in the text of its round. */
  readonly cut: CutText;
  readonly removed: number;
}

/** Cuts one value of each environment a round: neighbours share their commas. */
function cutInRounds<T extends CutTarget>(
  text: string,
  { format, targets }: CutOptions<T>,
): CutAll<T> {
  const made: MadeCut<T>[] = [];
  const left: T[] = [];
  let now = text;
  let order: readonly T[] = [];
  for (let [round, rest] = [0, targets]; rest.length > 0; round += 1) {
    const inside = rest.map(({ path }) => path);
    const document = documentIn(now, format, inside);
    if (document === undefined) return { text, cuts: [], left: targets };
    const sorted = inOrder(document, rest);
    if (round === 0) order = sorted;
    const edits = new Map<string, Edit>();
    const later: T[] = [];
    let end = 0;
    for (const target of sorted) {
      const env = JSON.stringify(target.path.slice(0, -1));
      const one = planOne(document, target);
      if (one === undefined) left.push(target);
      else if (edits.has(env) || one.edit.start < end) later.push(target);
      else {
        edits.set(env, one.edit);
        end = one.edit.end;
        const removed = one.edit.end - one.edit.start - one.edit.text.length;
        made.push({ target, round, cut: one.cut, removed });
      }
    }
    now = applyEdits(now, [...edits.values()]);
    rest = later;
  }
  const cuts = made.toSorted((a, b) => order.indexOf(a.target) - order.indexOf(b.target));
  return { text: now, cuts: cuts.map(placedInTurn), left };
}

/** With its place in the text in which all that stands before it is gone, and nothing else. */
function placedInTurn<T>(
  { target, round, cut }: MadeCut<T>,
  index: number,
  all: readonly MadeCut<T>[],
) {
  const gone = all
    .slice(0, index)
    .reduce((sum, one) => sum + (one.round < round ? 0 : one.removed), 0);
  return { target, cut: { ...cut, at: cut.at - gone } };
}

function inOrder<T extends CutTarget>(
  document: ConfigDocument,
  targets: readonly T[],
): readonly T[] {
  return targets
    .map((target) => ({ target, start: document.spanAt(target.path)?.start ?? -1 }))
    .toSorted((left, right) => left.start - right.start)
    .map(({ target }) => target);
}

function planOne(
  document: ConfigDocument,
  { path, value }: CutTarget,
): { readonly edit: Edit; readonly cut: CutText } | undefined {
  const { text, format } = document;
  const span = document.spanAt(path);
  if (span === undefined || document.valueAt(path) !== value) return undefined;
  const form = formOf(text.slice(span.start, span.end), value, format);
  if (form === undefined) return undefined;
  const edit = removeValue(document, path);
  if (edit.start > span.start || edit.end < span.end) return undefined;
  const head = text.slice(edit.start, span.start);
  const tail = text.slice(span.end, edit.end);
  return { edit, cut: { at: edit.start, length: edit.text.length, head, tail, form } };
}

/** Whether two texts say the same but for these values, which stand in the first one alone. */
function isSameBut(full: unknown, cut: unknown, paths: readonly ValuePath[]): boolean {
  return (
    paths.every((path) => valueAt(cut, path) === undefined) &&
    sameData(withoutValues(full, paths), withoutValues(cut, paths))
  );
}

/** Whether the second text is the first one with these values in it, and nothing else. */
export function isFilled(
  [cut, full]: readonly [string, string],
  format: Format,
  values: readonly CutTarget[],
): boolean {
  const paths = values.map(({ path }) => path);
  const [before, after] = [cut, full].map((one) => documentIn(one, format, paths));
  if (before === undefined || after === undefined) return false;
  return (
    values.every(({ path, value }) => after.valueAt(path) === value) &&
    isSameBut(after.value, before.value, paths)
  );
}

// A secret as it is written in a config, and how it goes back where it was cut out.

/** The text as it was before the cuts, which are given in the order in which they were made. */
export function uncutAll(
  text: string,
  cuts: readonly { readonly cut: CutText; readonly value: string }[],
  format: Format,
): string {
  return cuts.reduceRight((now, { cut: { at, length, head, tail, form }, value }) => {
    const back = `${head}${written(value, form, format)}${tail}`;
    return now.slice(0, at) + back + now.slice(at + length);
  }, text);
}

function written(value: string, form: CutText['form'], format: Format): string {
  // A value that was rotated since may have what cannot stand between single quotes.
  const isLiteral = form === 'literal' && !/['\p{Cc}]/u.test(value);
  return isLiteral ? `'${value}'` : quotedValue(value, format);
}

/** Between double quotes. TOML takes one control character less than JSON. */
export function quotedValue(value: string, format: Format): string {
  const text = JSON.stringify(value);
  return format === 'toml' ? text.replaceAll('\u007f', '\\u007F') : text;
}

/** Undefined for a value that is written with escapes that we would not write again. */
function formOf(text: string, value: string, format: Format): CutText['form'] | undefined {
  if (text === quotedValue(value, format)) return 'quoted';
  return text === `'${value}'` ? 'literal' : undefined;
}

// Takes values out of a config so that they can be put back to the last byte.
// Pure: a text in, a text out, and checked by reading it.
import { isObject } from '@subluminal/contracts';
import type { CutText, Edit, Format, ValuePath } from '../index.ts';
import { type ConfigDocument, readDocument } from '../text/document.ts';
import { applyEdits, removeValue } from '../text/edits.ts';
import { sameData } from '../text/plain-data.ts';
import type { TextSpan } from '../text/tree.ts';

/** All values at once: each look at a config takes its time, and configs can be large. */
export function cutAll<T extends CutTarget>(text: string, cutting: CutOptions<T>): CutAll<T> {
  const all = cutOnce(text, cutting);
  if (all !== undefined && isRight(text, cutting, all)) return all;
  // One of them is the reason: each by itself.
  let done: CutAll<T> = { text, cuts: [], left: [] };
  for (const target of cutting.targets) {
    const one = { ...cutting, targets: [target] };
    const out = cutOnce(done.text, one);
    done =
      out !== undefined && isRight(done.text, one, out)
        ? { text: out.text, cuts: [...done.cuts, ...out.cuts], left: [...done.left, ...out.left] }
        : { ...done, left: [...done.left, target] };
  }
  return done;
}

/** Nothing but the values may be gone, and they must come back to the byte. */
function isRight<T extends CutTarget>(
  text: string,
  { format, targets }: CutOptions<T>,
  { text: next, cuts }: CutAll<T>,
): boolean {
  const [before, after] = [text, next].map((one) => documentWithCuts(one, { format, targets }));
  if (before === undefined || after === undefined) return false;
  const paths = cuts.map(({ target }) => target.path);
  if (!isSameBut(before.value, after.value, paths)) return false;
  const back = uncutAll(
    next,
    cuts.map(({ target: { value }, cut }) => ({ value, cut })),
    format,
  );
  return back === text;
}

/** Whether two texts say the same but for these values, which stand in the first one alone. */
function isSameBut(full: unknown, cut: unknown, paths: readonly ValuePath[]): boolean {
  const rest = paths.reduce<unknown>(withoutValue, full);
  return sameData(
    paths.reduce<unknown>(withoutEmpty, cut),
    paths.reduce<unknown>(withoutEmpty, rest),
  );
}

/** Whether the second text is the first one with these values in it, and nothing else. */
export function isFilled(
  [cut, full]: readonly [string, string],
  format: Format,
  values: readonly CutTarget[],
): boolean {
  const paths = values.map(({ path }) => path);
  const [before, after] = [cut, full].map((one) => readDocument(one, format, paths));
  if (before?.kind !== 'document' || after?.kind !== 'document') return false;
  const { document } = after;
  return (
    values.every(({ path, value }) => document.valueAt(path) === value) &&
    isSameBut(document.value, before.document.value, paths)
  );
}

/** A copy that lacks one value. */
export function withoutValue(holder: unknown, [key, ...rest]: ValuePath): unknown {
  if (key === undefined || typeof holder !== 'object' || holder === null) return holder;
  if (Array.isArray(holder)) return holder;
  const entries = Object.entries(holder);
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([name]) => name !== key)
      : entries.map(([name, one]) => [name, name === key ? withoutValue(one, rest) : one]),
  );
}

/** An environment without variables says what none says. */
export function withoutEmpty(value: unknown, path: ValuePath): unknown {
  const env = path.slice(0, -1);
  const held = env.reduce<unknown>(
    (holder, key) => (isObject(holder) ? holder[String(key)] : undefined),
    value,
  );
  return isObject(held) && Object.keys(held).length === 0 ? withoutValue(value, env) : value;
}

// Where the values that go stand, and what of the text goes with each. Every environment is looked at
// by itself: each look at a whole config takes its time, and configs can be large.

/** A value that is to go. */
interface CutTarget {
  readonly path: ValuePath;
  readonly value: string;
}

interface CutOptions<T extends CutTarget> {
  readonly format: Format;
  readonly targets: readonly T[];
}

interface CutOne<T extends CutTarget> {
  readonly target: T;
  readonly cut: CutText;
}

/** A part of the text with all that goes out of it; the places of its cuts count from its start. */
interface CutPiece<T extends CutTarget> extends TextSpan {
  readonly text: string;
  readonly cuts: readonly CutOne<T>[];
  readonly left: readonly T[];
}

interface CutAll<T extends CutTarget> {
  readonly text: string;
  /** In the order of the text, in which they were cut; they go back in the opposite one. */
  readonly cuts: readonly CutOne<T>[];
  /** What has another value by now, or could not be put back as it stands. */
  readonly left: readonly T[];
}

/** Undefined where parts of the text are entangled. */
function cutOnce<T extends CutTarget>(text: string, cutting: CutOptions<T>): CutAll<T> | undefined {
  const document = documentWithCuts(text, cutting);
  if (document === undefined) return { text, cuts: [], left: cutting.targets };
  const groups = new Map<string, T[]>();
  for (const target of inOrder(document, cutting.targets)) {
    const env = JSON.stringify(target.path.slice(0, -1));
    const group = groups.get(env);
    if (group === undefined) groups.set(env, [target]);
    else group.push(target);
  }
  const pieces = [...groups.values()].flatMap((targets) => piecesOf(document, targets));
  return joined(text, pieces);
}

function documentWithCuts(
  text: string,
  { format, targets }: CutOptions<CutTarget>,
): ConfigDocument | undefined {
  const read = readDocument(
    text,
    format,
    targets.map(({ path }) => path),
  );
  return read.kind === 'document' ? read.document : undefined;
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

/** Of the values of one environment, in the order of the text. */
function piecesOf<T extends CutTarget>(
  document: ConfigDocument,
  targets: readonly T[],
): readonly CutPiece<T>[] {
  const span = document.spanAt(targets[0]?.path.slice(0, -1) ?? []);
  if (span !== undefined) return [insideOf(document, span, targets)];
  // A table of lines, each of which goes by itself.
  return targets.map((target) => {
    const one = planOne(document, target);
    if (one === undefined) return { start: 0, end: 0, text: '', cuts: [], left: [target] };
    const { edit, cut } = one;
    return { ...edit, cuts: [{ target, cut: { ...cut, at: 0 } }], left: [] };
  });
}

/** TOML knows no table outside of a document. */
const TABLE = { key: 'x', head: 'x = ' } as const;

/** One after the other: what stands side by side shares its commas. */
function insideOf<T extends CutTarget>(
  { text, format }: ConfigDocument,
  { start, end }: TextSpan,
  targets: readonly T[],
): CutPiece<T> {
  const [cuts, left]: [CutOne<T>[], T[]] = [[], []];
  const { head, above } =
    format === 'toml' ? { head: TABLE.head, above: [TABLE.key] } : { head: '', above: [] };
  let inner = `${head}${text.slice(start, end)}`;
  for (const target of targets) {
    const path = [...above, ...target.path.slice(-1)];
    const document = documentWithCuts(inner, { format, targets: [{ ...target, path }] });
    const one = document && planOne(document, { ...target, path });
    if (one === undefined) {
      left.push(target);
      continue;
    }
    inner = applyEdits(inner, [one.edit]);
    cuts.push({ target, cut: { ...one.cut, at: one.cut.at - head.length } });
  }
  return { start, end, text: inner.slice(head.length), cuts, left };
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

/** The places of all cuts in the text as it is when its turn comes: what stands before is gone then. */
function joined<T extends CutTarget>(
  text: string,
  pieces: readonly CutPiece<T>[],
): CutAll<T> | undefined {
  const left = pieces.flatMap((one) => one.left);
  const parts: string[] = [];
  const cuts: CutOne<T>[] = [];
  let [at, gone] = [0, 0];
  const sorted = pieces
    .filter((one) => one.cuts.length > 0)
    .toSorted((one, other) => one.start - other.start);
  for (const piece of sorted) {
    if (piece.start < at) return undefined;
    parts.push(text.slice(at, piece.start), piece.text);
    for (const { target, cut } of piece.cuts) {
      cuts.push({ target, cut: { ...cut, at: cut.at + piece.start - gone } });
    }
    at = piece.end;
    gone += piece.end - piece.start - piece.text.length;
  }
  parts.push(text.slice(at));
  return { text: parts.join(''), cuts, left };
}

// A secret as it is written in a config, and how it goes back where it was cut out.

/** A cut, and the value that goes there. */
interface Uncut {
  readonly cut: CutText;
  readonly value: string;
}

/** The text as it was before the cuts, which are given in the order in which they were made. */
export function uncutAll(text: string, cuts: readonly Uncut[], format: Format): string {
  let [from, end] = [text, text.length];
  // What stands behind `end`, the last part first: a large text is not copied for each value.
  let behind: string[] = [];
  for (const { cut, value } of cuts.toReversed()) {
    const { at, length, head, tail, form } = cut;
    if (at + length > end) {
      from = from.slice(0, end) + behind.toReversed().join('');
      [end, behind] = [from.length, []];
    }
    behind.push(from.slice(at + length, end), `${head}${written(value, form, format)}${tail}`);
    end = at;
  }
  return from.slice(0, end) + behind.toReversed().join('');
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

/** Undefined for what is written with escapes that we would not write again. */
function formOf(text: string, value: string, format: Format): CutText['form'] | undefined {
  if (text === quotedValue(value, format)) return 'quoted';
  return text === `'${value}'` ? 'literal' : undefined;
}

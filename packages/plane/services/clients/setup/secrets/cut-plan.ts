// Where the values that go stand, and what of the text goes with each. Every environment is looked at
// by itself: each look at a whole config takes its time, and configs can be large.
import type { Cut, Edit, Format, ValuePath } from '../../index.ts';
import { type Document, readDocument } from '../../text/document.ts';
import { applyEdits, removeValue } from '../../text/edits.ts';
import type { Span } from '../../text/tree.ts';
import { formOf } from './written.ts';

/** A value that is to go. */
export interface Target {
  readonly path: ValuePath;
  readonly value: string;
}

export interface Cutting<T extends Target> {
  readonly format: Format;
  readonly targets: readonly T[];
}

interface CutOne<T extends Target> {
  readonly target: T;
  readonly cut: Cut;
}

/** A part of the text with all that goes out of it; the places of its cuts count from its start. */
interface Piece<T extends Target> extends Span {
  readonly text: string;
  readonly cuts: readonly CutOne<T>[];
  readonly left: readonly T[];
}

export interface CutAll<T extends Target> {
  readonly text: string;
  /** In the order of the text, in which they were cut; they go back in the opposite one. */
  readonly cuts: readonly CutOne<T>[];
  /** What has another value by now, or could not be put back as it stands. */
  readonly left: readonly T[];
}

/** Undefined where parts of the text are entangled. */
export function cutOnce<T extends Target>(
  text: string,
  cutting: Cutting<T>,
): CutAll<T> | undefined {
  const document = documentOf(text, cutting);
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

export function documentOf(
  text: string,
  { format, targets }: Cutting<Target>,
): Document | undefined {
  const read = readDocument(
    text,
    format,
    targets.map(({ path }) => path),
  );
  return read.kind === 'document' ? read.document : undefined;
}

function inOrder<T extends Target>(document: Document, targets: readonly T[]): readonly T[] {
  return targets
    .map((target) => ({ target, start: document.spanAt(target.path)?.start ?? -1 }))
    .toSorted((left, right) => left.start - right.start)
    .map(({ target }) => target);
}

/** Of the values of one environment, in the order of the text. */
function piecesOf<T extends Target>(
  document: Document,
  targets: readonly T[],
): readonly Piece<T>[] {
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
function insideOf<T extends Target>(
  { text, format }: Document,
  { start, end }: Span,
  targets: readonly T[],
): Piece<T> {
  const [cuts, left]: [CutOne<T>[], T[]] = [[], []];
  const { head, above } =
    format === 'toml' ? { head: TABLE.head, above: [TABLE.key] } : { head: '', above: [] };
  let inner = `${head}${text.slice(start, end)}`;
  for (const target of targets) {
    const path = [...above, ...target.path.slice(-1)];
    const document = documentOf(inner, { format, targets: [{ ...target, path }] });
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
  document: Document,
  { path, value }: Target,
): { readonly edit: Edit; readonly cut: Cut } | undefined {
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
function joined<T extends Target>(
  text: string,
  pieces: readonly Piece<T>[],
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

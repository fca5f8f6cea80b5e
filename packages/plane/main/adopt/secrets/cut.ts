// Takes values out of a config so that they can be put back to the last byte.
// Pure: a text in, a text out, and checked by reading it.
import { isObject } from '@subluminal/contracts';
import type { Cut, Edit, Format, ValuePath } from '../../../clients/index.ts';
import { type Document, readDocument } from '../../../clients/text/document.ts';
import { applyEdits, removeValue } from '../../../clients/text/edits.ts';
import { sameData } from '../../../clients/text/same.ts';

/** A value that is to go. */
interface Target {
  readonly path: ValuePath;
  readonly value: string;
}

interface Cutting<T extends Target> {
  readonly format: Format;
  readonly targets: readonly T[];
}

interface CutAll<T extends Target> {
  readonly text: string;
  /** In the order in which they were cut; they go back in the opposite one. */
  readonly cuts: readonly { readonly target: T; readonly cut: Cut }[];
  /** What has another value by now, or could not be put back as it stands. */
  readonly left: readonly T[];
}

/** All values at once: each look at a config takes its time, and configs can be large. */
function cutAll<T extends Target>(text: string, cutting: Cutting<T>): CutAll<T> {
  const all = inRounds(text, cutting);
  if (isRight(text, cutting, all)) return all;
  // One of them is the reason: each by itself.
  let done: CutAll<T> = { text, cuts: [], left: [] };
  for (const target of cutting.targets) {
    const one = { ...cutting, targets: [target] };
    const out = inRounds(done.text, one);
    done = isRight(done.text, one, out)
      ? { text: out.text, cuts: [...done.cuts, ...out.cuts], left: [...done.left, ...out.left] }
      : { ...done, left: [...done.left, target] };
  }
  return done;
}

/** One look for one value of each environment: what stands side by side cannot go at once. */
function inRounds<T extends Target>(start: string, { format, targets }: Cutting<T>): CutAll<T> {
  const [cuts, left]: [{ target: T; cut: Cut }[], T[]] = [[], []];
  let text = start;
  let rest = targets;
  while (rest.length > 0) {
    const document = documentOf(text, { format, targets: rest });
    if (document === undefined) return { text, cuts, left: [...left, ...rest] };
    const { planned, unfit, later } = planRound(document, rest);
    left.push(...unfit);
    text = applyEdits(
      text,
      planned.map(({ edit }) => edit),
    );
    cuts.push(...planned.map(({ target, cut }) => ({ target, cut })));
    rest = later;
  }
  return { text, cuts, left };
}

interface Planned<T extends Target> {
  readonly target: T;
  readonly edit: Edit;
  readonly cut: Cut;
}

/** The last of the text first, so that none moves the place of the next. */
function planRound<T extends Target>(document: Document, targets: readonly T[]) {
  const [unfit, later]: [T[], T[]] = [[], []];
  const found: Planned<T>[] = [];
  const environments = new Set<string>();
  for (const target of targets) {
    const environment = JSON.stringify(target.path.slice(0, -1));
    if (environments.has(environment)) {
      later.push(target);
      continue;
    }
    const one = planOne(document, target);
    if (one === undefined) unfit.push(target);
    else {
      environments.add(environment);
      found.push({ target, ...one });
    }
  }
  const planned: Planned<T>[] = [];
  for (const one of found.toSorted((left, right) => right.edit.start - left.edit.start)) {
    const next = planned.at(-1)?.edit.start ?? document.text.length;
    if (one.edit.end <= next) planned.push(one);
    else later.push(one.target);
  }
  return { planned, unfit, later };
}

function planOne(
  document: Document,
  { path, value }: Target,
): Pick<Planned<Target>, 'edit' | 'cut'> | undefined {
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

/** Nothing but the values may be gone, and they must come back to the byte. */
function isRight<T extends Target>(
  text: string,
  { format, targets }: Cutting<T>,
  { text: next, cuts }: CutAll<T>,
): boolean {
  const [before, after] = [text, next].map((one) => documentOf(one, { format, targets }));
  if (before === undefined || after === undefined) return false;
  const paths = cuts.map(({ target }) => target.path);
  const rest = paths.reduce<unknown>(withoutValue, before.value);
  const isSame = sameData(
    paths.reduce<unknown>(withoutEmpty, after.value),
    paths.reduce<unknown>(withoutEmpty, rest),
  );
  if (!isSame) return false;
  const back = cuts.reduceRight(
    (left, { target: { value }, cut }) => uncut(left, cut, { value, format }),
    next,
  );
  return back === text;
}

/** As it is written, and in which format. */
interface Written {
  readonly value: string;
  readonly format: Format;
}

/** The text as it was before the cut, with that value in it. */
function uncut(text: string, { at, length, head, tail, form }: Cut, { value, format }: Written) {
  // A value that was rotated since may have what cannot stand between single quotes.
  const isLiteral = form === 'literal' && !/['\p{Cc}]/u.test(value);
  const written = isLiteral ? `'${value}'` : quoted(value, format);
  return `${text.slice(0, at)}${head}${written}${tail}${text.slice(at + length)}`;
}

/** Between double quotes. TOML takes one control character less than JSON. */
function quoted(value: string, format: Format): string {
  const text = JSON.stringify(value);
  return format === 'toml' ? text.replaceAll('\u007f', '\\u007F') : text;
}

/** Undefined for what is written with escapes that we would not write again. */
function formOf(text: string, value: string, format: Format): Cut['form'] | undefined {
  if (text === quoted(value, format)) return 'quoted';
  return text === `'${value}'` ? 'literal' : undefined;
}

function documentOf(text: string, { format, targets }: Cutting<Target>): Document | undefined {
  const read = readDocument(
    text,
    format,
    targets.map(({ path }) => path),
  );
  return read.kind === 'document' ? read.document : undefined;
}

/** A copy that lacks one value. */
function withoutValue(holder: unknown, [key, ...rest]: ValuePath): unknown {
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
function withoutEmpty(value: unknown, path: ValuePath): unknown {
  const env = path.slice(0, -1);
  const held = env.reduce<unknown>(
    (holder, key) => (isObject(holder) ? holder[String(key)] : undefined),
    value,
  );
  return isObject(held) && Object.keys(held).length === 0 ? withoutValue(value, env) : value;
}

export { cutAll, quoted, uncut, withoutEmpty, withoutValue };

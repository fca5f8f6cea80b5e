// Takes values out of a config, one after the other, so that they can be put back to the last byte.
// Pure: a text in, a text out, and checked by reading it.
import { isObject } from '@subluminal/contracts';
import type { Cut, Format, ValuePath } from '../../../clients/index.ts';
import { type Document, readDocument } from '../../../clients/text/document.ts';
import { applyEdits, removeValue } from '../../../clients/text/edits.ts';
import { sameData } from '../../../clients/text/same.ts';

interface CutOut {
  readonly text: string;
  readonly cut: Cut;
}

interface Target {
  readonly format: Format;
  readonly path: ValuePath;
  readonly value: string;
}

/** Undefined where the value is another one, or could not be put back as it stands. */
function cutOut(text: string, { format, path, value }: Target): CutOut | undefined {
  const document = documentOf(text, { format, path });
  const span = document?.spanAt(path);
  if (document === undefined || span === undefined || document.valueAt(path) !== value) {
    return undefined;
  }
  const form = formOf(text.slice(span.start, span.end), value);
  if (form === undefined) return undefined;
  const edit = removeValue(document, path);
  if (edit.start > span.start || edit.end < span.end) return undefined;
  const head = text.slice(edit.start, span.start);
  const tail = text.slice(span.end, edit.end);
  const cut: Cut = { at: edit.start, length: edit.text.length, head, tail, form };
  const next = applyEdits(text, [edit]);
  const after = documentOf(next, { format, path });
  const rest = withoutValue(document.value, path);
  const isRight =
    after !== undefined &&
    sameData(withoutEmpty(after.value, path), withoutEmpty(rest, path)) &&
    uncut(next, cut, value) === text;
  return isRight ? { text: next, cut } : undefined;
}

/** The text as it was before the cut, with that value in it. */
function uncut(text: string, { at, length, head, tail, form }: Cut, value: string): string {
  return `${text.slice(0, at)}${head}${written(value, form)}${tail}${text.slice(at + length)}`;
}

function written(value: string, form: Cut['form']): string {
  // A value that was rotated since may have what cannot stand between single quotes.
  return form === 'literal' && !/['\p{Cc}]/u.test(value) ? `'${value}'` : JSON.stringify(value);
}

/** Undefined for what is written with escapes that we would not write again. */
function formOf(text: string, value: string): Cut['form'] | undefined {
  if (text === JSON.stringify(value)) return 'quoted';
  return text === `'${value}'` ? 'literal' : undefined;
}

function documentOf(
  text: string,
  { format, path }: Pick<Target, 'format' | 'path'>,
): Document | undefined {
  const read = readDocument(text, format, [path]);
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

export { cutOut, uncut, withoutEmpty, withoutValue };

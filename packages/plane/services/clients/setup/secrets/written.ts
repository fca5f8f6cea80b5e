// A secret as it is written in a config, and how it goes back where it was cut out.
import type { Cut, Format } from '../../index.ts';

/** A cut, and the value that goes there. */
interface Uncut {
  readonly cut: Cut;
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

function written(value: string, form: Cut['form'], format: Format): string {
  // A value that was rotated since may have what cannot stand between single quotes.
  const isLiteral = form === 'literal' && !/['\p{Cc}]/u.test(value);
  return isLiteral ? `'${value}'` : quoted(value, format);
}

/** Between double quotes. TOML takes one control character less than JSON. */
export function quoted(value: string, format: Format): string {
  const text = JSON.stringify(value);
  return format === 'toml' ? text.replaceAll('\u007f', '\\u007F') : text;
}

/** Undefined for what is written with escapes that we would not write again. */
export function formOf(text: string, value: string, format: Format): Cut['form'] | undefined {
  if (text === quoted(value, format)) return 'quoted';
  return text === `'${value}'` ? 'literal' : undefined;
}

// Query parameters, read strictly: a misspelt filter must not show everything.
import type { ApiQuery, ObjectShape, Shape } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { Problem } from './problem.ts';

type Parameters<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

const PARAMETERS_MAX = 32;
const SHOWN_LENGTH_MAX = 80;
const DIGITS = /^\d{1,16}$/;

/** Reads the query of a request target as the endpoint declares it. */
export function readParameters<T>({ shape, parse }: ApiQuery<T>, target: string): Parameters<T> {
  const given = pairsOf(target);
  if (typeof given === 'string') return wrong(given);
  const values: { [name: string]: unknown } = {};
  for (const [name, text] of given) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field === undefined) return wrong(unknownName(name, shape));
    if (Object.hasOwn(values, name)) return wrong(`The parameter \`${name}\` is given twice.`);
    values[name] = valueOf(field.shape, text);
  }
  const parsed = parse(values);
  if (parsed.ok) return { ok: true, value: parsed.value };
  const { path = [], expected = '', got = '' } = parsed.mismatches[0] ?? {};
  return wrong(`The parameter \`${path.join('.')}\` must be ${expected}, not ${shown(got)}.`);
}

/** The decoded pairs, or what is wrong with them. */
function pairsOf(target: string): readonly (readonly [string, string])[] | string {
  const at = target.indexOf('?');
  const query = at < 0 ? '' : target.slice(at + 1);
  const parts = query.split('&', PARAMETERS_MAX + 1).filter((part) => part !== '');
  if (parts.length > PARAMETERS_MAX) return `There are more than ${PARAMETERS_MAX} parameters.`;
  const pairs: (readonly [string, string])[] = [];
  for (const part of parts) {
    const sign = part.indexOf('=');
    const name = decoded(sign < 0 ? part : part.slice(0, sign));
    if (name === undefined) return 'The name of a parameter is not well-formed.';
    const value = sign < 0 ? '' : decoded(part.slice(sign + 1));
    if (value === undefined) return `The parameter \`${shown(name)}\` is not well-formed.`;
    pairs.push([name, value]);
  }
  return pairs;
}

/** Undefined for what is no UTF-8, and for NUL, which no text of the ledger holds. */
function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '));
    return plain.includes('\0') ? undefined : plain;
  } catch {
    return undefined;
  }
}

function valueOf(shape: Shape, text: string): string | number {
  return shape.kind === 'integer' && DIGITS.test(text) ? Number(text) : text;
}

function unknownName(name: string, shape: ObjectShape): string {
  const known = Object.keys(shape.fields);
  const choices = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  return `The parameter \`${shown(name)}\` is not known; ${choices}.`;
}

function shown(text: string): string {
  return visible(text, SHOWN_LENGTH_MAX);
}

function wrong(detail: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { status: 400, code: 'SUB_API_REQUEST', detail } };
}

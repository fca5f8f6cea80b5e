// The arguments of a call as the ledger keeps them: redacted JSON, possibly cut at its end.
import { isJsonObject, type JsonObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';

/** Undefined for what is no JSON object, whole or cut. */
export function readArgs(preview: string): JsonObject | undefined {
  const value = parseJson(preview);
  if (value !== undefined) return isJsonObject(value) ? value : undefined;
  return closedTexts(preview).map(parseJson).find(isJsonObject);
}

const CLOSERS: { readonly [opener: string]: string } = { '{': '}', '[': ']' };
const HALF_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/;

/** A cut text, closed where it ends; else behind its last whole member. */
function closedTexts(text: string): readonly string[] {
  const { isString, closers, lastComma } = openPartsOf(text);
  const whole = isString ? `${text.replace(HALF_ESCAPE, '')}"` : text;
  const shorter = text.slice(0, lastComma);
  return [whole + closers, shorter + openPartsOf(shorter).closers];
}

function openPartsOf(text: string) {
  const signs = /["\\{}[\],]/g;
  const open: string[] = [];
  let isString = false;
  let lastComma = 0;
  for (let found = signs.exec(text); found !== null; found = signs.exec(text)) {
    const [sign] = found;
    if (isString) {
      if (sign === '\\') signs.lastIndex = found.index + 2;
      else isString = sign !== '"';
    } else if (sign === '"') isString = true;
    else if (sign === ',') lastComma = found.index;
    else if (sign === '}' || sign === ']') open.pop();
    else open.push(CLOSERS[sign] ?? '');
  }
  return { isString, lastComma, closers: open.toReversed().join('') };
}

/** Names of arguments that tell most about a call, the most telling first. */
const TELLING: readonly RegExp[] = [
  /(?:path|file|filename|directory|dir|folder)s?$/,
  /^(?:command|cmd|commandline|script)$/,
  /(?:url|uri|href|endpoint)s?$/,
  /^(?:to|recipients?|email|cc|channel|channelid|channelname|phone)$/,
  /^(?:sql|statement|query|q|search|pattern)$/,
  /^(?:source|src|from|destination|dest|target)$/,
  /(?:repo|repository|branch|title|name|key|id)$/,
];
const VALUE_LENGTH_MAX = 256;

/** The one argument that tells most, as `name=value`; null when there is none that is short. */
export function mainArgument(args: JsonObject): string | null {
  const entries = Object.entries(args).flatMap(([name, value]) => {
    const text = shortText(value);
    return text === undefined ? [] : [{ name, folded: foldedName(name), text }];
  });
  for (const telling of TELLING) {
    const found = entries.find(({ folded }) => telling.test(folded));
    if (found !== undefined) return `${found.name}=${found.text}`;
  }
  const [first] = entries;
  return first === undefined ? null : `${first.name}=${first.text}`;
}

function foldedName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\s-]/g, '');
}

function shortText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.slice(0, VALUE_LENGTH_MAX);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const first = Array.isArray(value[0]) ? undefined : shortText(value[0]);
  if (first === undefined) return undefined;
  return value.length === 1 ? first : `${first} (+${value.length - 1})`;
}

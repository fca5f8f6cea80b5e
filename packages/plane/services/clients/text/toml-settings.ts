// Writes changes of settings into TOML: single values before the first line, tables behind the last one.
import { isObject } from '@subluminal/contracts';
import type { SettingsEdit } from './change-settings.ts';
import { documentIn } from './document.ts';
import { applyEdits, lineBreakOf, removeValue, SPACED, writeKey, writeValue } from './edits.ts';

const FORMAT = 'toml';
const STYLE = { format: FORMAT, isLiteral: false, list: SPACED } as const;

/** Undefined for what cannot be said so. */
export function changeTomlText(text: string, edits: readonly SettingsEdit[]): string | undefined {
  const lineBreak = lineBreakOf(text);
  let [head, tail] = ['', ''];
  let body = text;
  for (const edit of edits) {
    if ('added' in edit) return undefined;
    const { path, after } = edit;
    if ('before' in edit) {
      const document = documentIn(body, FORMAT, [path]);
      if (document?.spanAt(path) === undefined) return undefined;
      body = applyEdits(body, [removeValue(document, path)]);
    }
    if (after === undefined) continue;
    if (isObject(after)) tail += tableText(path, after, lineBreak);
    else if (path.length === 1) head += `${keyText(path)} = ${valueText(after)}${lineBreak}`;
    else return undefined;
  }
  const mark = body.startsWith('\uFEFF') ? '\uFEFF' : '';
  const rest = body.slice(mark.length);
  const isEnded = tail === '' || rest === '' || /[\r\n]$/.test(rest);
  return `${mark}${head}${rest}${isEnded ? '' : lineBreak}${tail}`;
}

type Table = { readonly [key: string]: unknown };

function tableText(path: readonly string[], table: Table, lineBreak: string): string {
  const entries = Object.entries(table);
  const lines = entries
    .filter(([, value]) => !isObject(value))
    .map(([key, value]) => `${keyText([key])} = ${valueText(value)}${lineBreak}`);
  const below = entries.flatMap(([key, value]) =>
    isObject(value) ? [tableText([...path, key], value, lineBreak)] : [],
  );
  const isNamedBelow = lines.length === 0 && below.length > 0;
  const head = isNamedBelow ? '' : `${lineBreak}[${keyText(path)}]${lineBreak}`;
  return `${head}${lines.join('')}${below.join('')}`;
}

function keyText(path: readonly string[]): string {
  return path.map((key) => writeKey(key, FORMAT)).join('.');
}

/** Texts, numbers and booleans; a list of them. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  return typeof value === 'string' ? writeValue(value, STYLE) : JSON.stringify(value);
}

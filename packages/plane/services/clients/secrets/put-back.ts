// Puts a secret back into a config that others have changed since it was cut out: beside other values
// of the same environment, or in a new one. Each way is tried, and the result is read.
import { isObject } from '@subluminal/contracts';
import { parse } from 'smol-toml';
import type { Edit, Format, ValuePath } from '../index.ts';
import { type ConfigDocument, documentIn } from '../text/document.ts';
import { applyEdits, insertAfter, lineBreakOf } from '../text/edits.ts';
import type { TextSpan } from '../text/tree.ts';
import { isFilled, quotedValue } from './cut-values.ts';

interface SecretPlacement {
  readonly format: Format;
  /** Ends with `env` and the variable, or with the headers and one of them. */
  readonly path: ValuePath;
  readonly value: string;
}

type PutResult =
  | { readonly kind: 'put'; readonly text: string }
  /** Something stands there, or the server is gone: neither is ours to change. */
  | { readonly kind: 'kept' | 'gone' | 'refused' };

/** Stands for a table until the edit is made; no config holds it. */
const MARKER = 'env of subluminal, to be replaced';

export function putInto(text: string, wanted: SecretPlacement): PutResult {
  const { format, path } = wanted;
  const document = documentIn(text, format, [path]);
  if (document === undefined) return { kind: 'refused' };
  if (document.valueAt(path) !== undefined) return { kind: 'kept' };
  if (!isObject(document.valueAt(path.slice(0, -2)))) return { kind: 'gone' };
  for (const way of [besideOthers, intoEmpty, intoNew, belowHeader]) {
    for (const edit of way(document, wanted)) {
      const next = applyEdits(text, [edit]);
      if (isFilled([text, next], format, [wanted])) return { kind: 'put', text: next };
    }
  }
  return { kind: 'refused' };
}

interface PutAll<T> {
  readonly text: string;
  readonly put: readonly T[];
  /** Those that have to be placed one by one. */
  readonly rest: readonly T[];
}

/** Each server by itself, and the whole once: a large config is not read for every secret. */
export function putAll<T extends Omit<SecretPlacement, 'format'>>(
  text: string,
  all: readonly T[],
  format: Format,
): PutAll<T> {
  const none = { text, put: [], rest: all };
  const paths = all.map(({ path }) => path);
  const document = format === 'toml' ? undefined : documentIn(text, format, paths);
  if (document === undefined) return none;
  const [put, rest]: [T[], T[]] = [[], []];
  const servers = new Map<string, { readonly span: TextSpan; inner: string }>();
  for (const one of all) {
    const { path, value } = one;
    const holder = path.slice(0, -2);
    const span = document.spanAt(holder);
    const key = JSON.stringify(holder);
    const server = servers.get(key) ?? (span && { span, inner: text.slice(span.start, span.end) });
    const done = server && putInto(server.inner, { format, path: path.slice(-2), value });
    if (server === undefined || (done?.kind !== 'put' && done?.kind !== 'kept')) rest.push(one);
    else if (done.kind === 'put') {
      put.push(one);
      servers.set(key, { ...server, inner: done.text });
    }
  }
  const edits = [...servers.values()].map(({ span, inner }) => ({ ...span, text: inner }));
  const next = applyEdits(text, edits);
  return isFilled([text, next], format, put) ? { text: next, put, rest } : none;
}

function besideOthers(document: ConfigDocument, { path, value }: SecretPlacement): readonly Edit[] {
  const env = document.valueAt(path.slice(0, -1));
  const names = isObject(env) ? Object.keys(env) : [];
  return names
    .toReversed()
    .flatMap((name) =>
      behind(document, [...path.slice(0, -1), name], { key: variableOf(path), value }),
    );
}

function intoEmpty(
  document: ConfigDocument,
  { path, value, format }: SecretPlacement,
): readonly Edit[] {
  const span = document.spanAt(path.slice(0, -1));
  const env = document.valueAt(path.slice(0, -1));
  if (span === undefined || !isObject(env) || Object.keys(env).length > 0) return [];
  return [{ ...span, text: tableText(variableOf(path), value, format) }];
}

function intoNew(
  document: ConfigDocument,
  { path, value, format }: SecretPlacement,
): readonly Edit[] {
  if (document.valueAt(path.slice(0, -1)) !== undefined) return [];
  const holder = path.slice(0, -2);
  const table = tableText(variableOf(path), value, format);
  const key = String(path.at(-2));
  return ['args', 'command', 'path', 'url', 'serverUrl', 'httpUrl'].flatMap((name) =>
    behind(document, [...holder, name], { key, value: MARKER }).flatMap((edit) => {
      const text = edit.text.replace(new RegExp(`(["'])${MARKER}\\1`), () => table);
      return text === edit.text ? [] : [{ ...edit, text }];
    }),
  );
}

/** TOML: a table of lines that has none. What looks like its header may stand in a text, so each is tried. */
function belowHeader(
  { text, format }: ConfigDocument,
  { path, value }: SecretPlacement,
): readonly Edit[] {
  if (format !== 'toml') return [];
  const line = `${lineBreakOf(text)}${keyText(variableOf(path), format)} = ${quotedValue(value, format)}`;
  return [...text.matchAll(/^[ \t]*(\[[^\r\n]*)$/gm)].flatMap(
    ({ index, 0: all, 1: header = '' }) =>
      isHeaderOf(header, path.slice(0, -1))
        ? [{ start: index + all.length, end: index + all.length, text: line }]
        : [],
  );
}

function isHeaderOf(header: string, path: ValuePath): boolean {
  try {
    let value: unknown = parse(header);
    for (const key of path) {
      if (!isObject(value) || Object.keys(value).join() !== key) return false;
      value = value[key];
    }
    return isObject(value) && Object.keys(value).length === 0;
  } catch {
    return false;
  }
}

/** None where nothing stands that it could follow. */
function behind(
  document: ConfigDocument,
  sibling: ValuePath,
  property: { readonly key: string; readonly value: string },
): readonly Edit[] {
  if (document.spanAt(sibling) === undefined) return [];
  return [insertAfter(document, sibling, property)];
}

function tableText(key: string, value: string, format: Format): string {
  const sign = format === 'toml' ? ' = ' : ': ';
  return `{ ${keyText(key, format)}${sign}${quotedValue(value, format)} }`;
}

function keyText(key: string, format: Format): string {
  return format === 'toml' && /^[A-Za-z0-9_-]+$/.test(key) ? key : quotedValue(key, format);
}

function variableOf(path: ValuePath): string {
  return String(path.at(-1));
}

// The text of one entry as a whole: the pieces it is made of, and how others take their place. Pure, and
// checked by reading the result.
import { isObject } from '@subluminal/contracts';
import { type ConfigDocument, documentIn } from './document.ts';
import {
  applyEdits,
  headOf,
  lineBreakOf,
  SPACED,
  TIGHT,
  type Writable,
  writeKey,
  writeValue,
} from './edits.ts';
import { copyFor, sameData, setValue } from './plain-data.ts';
import { type TomlStatement, tomlStatements } from './toml.ts';
import {
  type Format,
  nodeAt,
  type TableMember,
  type TableNode,
  type TextSpan,
  type ValuePath,
} from './tree.ts';

/** A property with its key, or a table of lines below the entry. */
export interface EntryPiece {
  /** The property; empty for the header of the entry itself. */
  readonly key: string;
  readonly text: string;
}

/** A value that `sub` writes into an entry. */
export type EntryValue = Writable | { readonly [name: string]: string };

export interface EntryText {
  readonly span: TextSpan;
  readonly pieces: readonly EntryPiece[];
  /** What every key begins with in lines of TOML; undefined between braces. */
  readonly prefix?: string;
  /** A property, in the manner of this entry. */
  readonly write: (key: string, value: EntryValue) => EntryPiece;
  readonly compose: (pieces: readonly EntryPiece[]) => string;
}

/** Undefined where its parts stand apart, or are written in a way that is not put together again. */
export function entryTextAt(document: ConfigDocument, path: ValuePath): EntryText | undefined {
  const node = nodeAt(document.root, path);
  if (node?.kind !== 'table') return undefined;
  if (node.span !== undefined) return bracedEntry(document, node, node.span);
  return document.format === 'toml' ? entryOfLines(document, path) : undefined;
}

// Between braces: JSON, and the inline tables of TOML.

function bracedEntry(
  { text, format }: ConfigDocument,
  { members }: TableNode,
  span: TextSpan,
): EntryText | undefined {
  const placed = [...members].flatMap(([key, member]) => placedMember(key, member));
  if (placed.length !== members.size) return undefined;
  const pieces = placed.map(({ key, start, end }) => ({ key, text: text.slice(start, end) }));
  const style = bracedStyle(text, span, placed);
  const sign = signIn(text, placed[0]) ?? (format === 'toml' ? ' = ' : ': ');
  const isTight = /[:=]$/.test(sign);
  return {
    span,
    pieces,
    write: (key, value) => ({
      key,
      text: `${writeKey(key, format)}${sign}${valueText(value, { format, isTight })}`,
    }),
    compose: (some) =>
      some.length === 0
        ? '{}'
        : `{${style.open}${some.map((one) => one.text).join(style.separator)}${style.close}}`,
  };
}

interface PlacedMember {
  readonly key: string;
  readonly start: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly end: number;
}

function placedMember(name: string, { node, key }: TableMember): readonly PlacedMember[] {
  if (key === undefined || node.span === undefined || key.start !== key.lastStart) return [];
  const { start: valueStart, end } = node.span;
  return [{ key: name, start: key.start, keyEnd: key.end, valueStart, end }];
}

function signIn(text: string, first: PlacedMember | undefined): string | undefined {
  const sign = first && text.slice(first.keyEnd, first.valueStart);
  return sign !== undefined && /^[ \t]*[:=][ \t]*$/.test(sign) ? sign : undefined;
}

/** One property a line where the first has a line of its own, else all in one. */
function bracedStyle(text: string, span: TextSpan, placed: readonly PlacedMember[]) {
  const [first] = placed;
  const head = first && headOf(text, first.start);
  if (head?.breakBefore !== undefined && head.breakBefore.start > span.start) {
    const open = `${head.breakBefore.text}${head.indent}`;
    const closing = headOf(text, span.end - 1);
    const close = `${closing?.breakBefore?.text ?? head.breakBefore.text}${closing?.indent ?? ''}`;
    return { open, separator: `,${open}`, close };
  }
  const isTight = first !== undefined && /[:=]$/.test(signIn(text, first) ?? ' ');
  const space = text[span.start + 1] === ' ' ? ' ' : '';
  return { open: space, separator: isTight ? ',' : ', ', close: space };
}

function valueText(
  value: EntryValue,
  { format, isTight }: { readonly format: Format; readonly isTight: boolean },
): string {
  const list = isTight ? TIGHT : SPACED;
  if (typeof value === 'string' || isList(value)) {
    return writeValue(value, { format, isLiteral: false, list });
  }
  const sign = { toml: ' = ', json: isTight ? ':' : ': ' }[format === 'toml' ? 'toml' : 'json'];
  const inner = Object.entries(value).map(
    ([key, one]) =>
      `${writeKey(key, format)}${sign}${writeValue(one, { format, isLiteral: false, list })}`,
  );
  if (inner.length === 0) return '{}';
  return isTight ? `{${inner.join(',')}}` : `{ ${inner.join(', ')} }`;
}

function isList(value: EntryValue): value is readonly string[] {
  return Array.isArray(value);
}

// TOML: lines below a header, lines with dotted keys, and the tables below the entry.

/** A config may have thousands of entries. */
const known = new WeakMap<ConfigDocument, readonly TomlStatement[]>();

function statementsOf(document: ConfigDocument): readonly TomlStatement[] {
  const statements = known.get(document) ?? tomlStatements(document.text);
  known.set(document, statements);
  return statements;
}

function entryOfLines(document: ConfigDocument, path: ValuePath): EntryText | undefined {
  const { text } = document;
  const all = statementsOf(document);
  const isOurs = (one: TomlStatement) => path.every((step, at) => one.path[at] === step);
  const from = all.findIndex(isOurs);
  const own = all.filter(isOurs);
  const [first] = own;
  const last = own.at(-1);
  const isTogether = own.every((one, at) => one === all[from + at]);
  const direct = own.find((one) => one.kind === 'pair' && one.path.length === path.length + 1);
  if (first === undefined || last === undefined || !isTogether || direct === undefined) {
    return undefined;
  }
  const lineBreak = lineBreakOf(text);
  const indent = headOf(text, direct.start)?.indent ?? '';
  const prefix = text.slice(direct.start, direct.lastStart);
  return {
    span: { start: first.start, end: last.end },
    pieces: piecesOfLines(text, own, path.length),
    prefix,
    write: (key, value) => ({
      key,
      text: `${prefix}${writeKey(key, 'toml')} = ${valueText(value, { format: 'toml', isTight: false })}`,
    }),
    compose: (pieces) =>
      pieces
        .map(({ text: piece }, at) => {
          if (at === 0) return piece;
          return piece.startsWith('[')
            ? `${lineBreak}${lineBreak}${piece}`
            : `${lineBreak}${indent}${piece}`;
        })
        .join(''),
  };
}

function piecesOfLines(
  text: string,
  own: readonly TomlStatement[],
  depth: number,
): readonly EntryPiece[] {
  const groups: { readonly key: string; readonly start: number; end: number }[] = [];
  let isBelow = false;
  for (const { kind, path, start, end } of own) {
    const group = groups.at(-1);
    if (kind === 'pair' && isBelow && group !== undefined) group.end = end;
    else groups.push({ key: path[depth] ?? '', start, end });
    if (kind === 'header') isBelow = path.length > depth;
  }
  return groups.map(({ key, start, end }) => ({ key, text: text.slice(start, end) }));
}

/** The pieces of one entry in the manner of another; undefined where that has no way to write them. */
export function inManner(
  { entry, value }: LoneEntry,
  other: EntryText,
): readonly EntryPiece[] | undefined {
  if (entry.prefix === other.prefix) return entry.pieces;
  const own = entry.pieces.filter(({ key }) => key !== '');
  const pieces = own.flatMap(({ key, text }) => {
    if (!text.startsWith('[')) {
      return [{ key, text: `${other.prefix ?? ''}${text.slice(entry.prefix?.length ?? 0)}` }];
    }
    const table = value[key];
    return isTexts(table) ? [other.write(key, table)] : [];
  });
  const header = other.pieces.filter(({ key }) => key === '');
  return pieces.length === own.length ? [...header, ...pieces] : undefined;
}

function isTexts(value: unknown): value is { readonly [name: string]: string } {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
}

// An entry that was written down by itself.

export interface LoneEntry {
  readonly entry: EntryText;
  readonly value: { readonly [key: string]: unknown };
}

/** Reads the text of an entry that stood at this path. */
export function readEntryText(
  text: string,
  format: Format,
  path: ValuePath,
): LoneEntry | undefined {
  if (format !== 'toml') return loneEntry(text, format, []);
  if (text.startsWith('{')) return loneEntry(`x = ${text}`, format, ['x']);
  for (let at = 0; at < path.length; at += 1) {
    const found = loneEntry(text, format, path.slice(at));
    if (found !== undefined) return found;
  }
  return undefined;
}

function loneEntry(text: string, format: Format, path: ValuePath): LoneEntry | undefined {
  const document = documentIn(text, format, [path]);
  const entry = document && entryTextAt(document, path);
  const value = document?.valueAt(path);
  return entry !== undefined && isObject(value) ? { entry, value } : undefined;
}

export interface EntryReplacement {
  readonly path: ValuePath;
  /** What stands there then. */
  readonly text: string;
}

/** Undefined where the result would say anything else than these entries and all that was there. */
export function replaceEntries(
  document: ConfigDocument,
  replacements: readonly EntryReplacement[],
  inside: readonly ValuePath[],
): ConfigDocument | undefined {
  const { text, format, value } = document;
  if (replacements.length === 0) return document;
  const expected = copyFor(
    value,
    replacements.map(({ path }) => path),
  );
  const edits = replacements.flatMap((one) => {
    const span = entryTextAt(document, one.path)?.span;
    const wanted = readEntryText(one.text, format, one.path);
    if (span === undefined || wanted === undefined) return [];
    setValue(expected, one.path, wanted.value);
    return [{ ...span, text: one.text }];
  });
  if (edits.length !== replacements.length) return undefined;
  const next = documentIn(applyEdits(text, edits), format, inside);
  return next !== undefined && sameData(next.value, expected) ? next : undefined;
}

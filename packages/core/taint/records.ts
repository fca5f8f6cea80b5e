// Tells values that stand alone in a field of a record from running text: an order to the agent needs
// running text. A record is JSON, or lines of `key: value` as YAML has them.
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { leavesOf, type TaintLeaf } from './leaves.ts';

export interface ReadParts {
  /** Values that are all of their field, such as one address. */
  readonly fields: readonly string[];
  /** Everything else. */
  readonly prose: readonly string[];
}

const LIMITS = { charsMax: 1_048_576, nodesMax: 50_000 };
const RECORD_LENGTH_MAX = 262_144;
const FIELD_LENGTH_MAX = 256;
/** A field of such a name holds the id of a thing. */
const ID_NAME = /(?:^|[_-])(?:ids?|uuid|key|number)_?$|[a-z]Ids?$/;
/** `- key: value`, `- value`, `key: value` or `key:`. */
const RECORD_LINE = /^(\s*(?:- +)*)(?:([\w.-]{1,64}):(?: +|$))?(.*)$/;
const TOP_LINE = /^(?:\s|- |-$|[\w.-]{1,64}:(?: |$)|[\]}]|$)/;

/** The parts of an answer. Its texts may be records themselves. */
export function partsOf(leaves: readonly TaintLeaf[]): ReadParts {
  const fields: string[] = [];
  const prose: string[] = [];
  for (const leaf of leaves) {
    const inner = isDocument(leaf) ? recordParts(leaf.text) : undefined;
    if (inner === undefined) file(leaf, { fields, prose });
    else {
      for (const text of inner.fields) fields.push(text);
      for (const text of inner.prose) prose.push(text);
    }
  }
  return { fields, prose };
}

function file(leaf: TaintLeaf, to: { readonly fields: string[]; readonly prose: string[] }): void {
  const { text, path, isKey } = leaf;
  if (isKey || isDocument(leaf) || !isField(text)) to.prose.push(text);
  else to.fields.push(fieldText(text, path.findLast((step) => typeof step === 'string') ?? ''));
}

/** The text of a content block, or an answer that is one text. */
function isDocument({ path, isKey }: TaintLeaf): boolean {
  return !isKey && (path.length === 0 || path.at(-1) === 'text' || path.at(-1) === 'blob');
}

/** One address, path, number or id as a whole. */
const FIELD =
  /^(?:[\w.%+-]{1,64}@[\w.-]{1,190}|(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)[\w./?#=&%~@:+,-]{1,230}|[~.]{0,2}(?:\/[\w.@+-]{1,100}){1,20}\/?|[\p{L}\p{N}_.#@+-]{1,64})$/u;

function isField(text: string): boolean {
  return text.length <= FIELD_LENGTH_MAX && FIELD.test(text);
}

/** The name makes a bare number the id of a thing. */
function fieldText(text: string, name: string): string {
  return ID_NAME.test(name) ? `id ${text}` : text;
}

function recordParts(text: string): ReadParts | undefined {
  if (text.length > RECORD_LENGTH_MAX) return undefined;
  return jsonParts(text) ?? lineParts(text);
}

function jsonParts(text: string): ReadParts | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const fields: string[] = [];
  const prose: string[] = [];
  try {
    const value: unknown = JSON.parse(text);
    const { leaves, whole } = leavesOf(value, LIMITS);
    // The agent reads both values of a key that stands twice.
    if (!whole || hasDuplicateKeys(text, value)) return undefined;
    for (const leaf of leaves) file(leaf, { fields, prose });
  } catch {
    return undefined;
  }
  return { fields, prose };
}

/** Lines that are deeper than a line with a value go on with that value: they are text. */
function lineParts(text: string): ReadParts | undefined {
  const lines = text.split('\n');
  if (lines.length < 2 || !lines.every((line) => TOP_LINE.test(line))) return undefined;
  const fields: string[] = [];
  const prose: string[] = [];
  const names: string[] = [];
  let textBelow = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const [, start = '', name = '', rest = ''] = RECORD_LINE.exec(line) ?? [];
    const indent = line.length - line.trimStart().length;
    if (line.trim() !== '' && indent <= textBelow) textBelow = Number.POSITIVE_INFINITY;
    const value = unquoted(rest.trim());
    const isText = textBelow < indent || value === undefined || !isField(value);
    if (isText) prose.push(line);
    else {
      names.push(name);
      fields.push(fieldText(value, name));
    }
    if (textBelow === Number.POSITIVE_INFINITY && rest.trim() !== '') {
      textBelow = name === '' ? indent : start.length;
    }
  }
  // What spans lines is read as one text.
  return { fields, prose: [prose.join('\n'), ...names] };
}

/** Without its quotes; nothing where a quote is open, or a block of text begins. */
function unquoted(value: string): string | undefined {
  if (/^[|>]/.test(value)) return undefined;
  const quote = /^["']/.exec(value)?.[0];
  if (quote === undefined) return value;
  return value.length > 1 && value.endsWith(quote) ? value.slice(1, -1) : undefined;
}

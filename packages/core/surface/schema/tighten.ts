// Writes the limits of a parameter into its schema; of two limits, the tighter one stays.
import { isObject, type JsonValue } from '@subluminal/contracts';
import { brokenLimit, isTextual, RECIPIENT_SEPARATORS } from '../manifest/limits.ts';
import type { ParamLimit } from '../manifest/types.ts';
import { isJson } from '../pins/pin.ts';
import { can, listAt, type Node, typesOf } from './node.ts';

export interface Tightened {
  /** No value fits any more: the limit is for another type than the parameter has. */
  readonly impossible: boolean;
  /** What the schema cannot say, so that only the check of the call does. */
  readonly unsaid: readonly string[];
  /** The server's own default breaks the limit, and is what it takes when the parameter is absent. */
  readonly badDefault: boolean;
}

interface SchemaPlace {
  readonly inList: boolean;
  /** In-place branches carry the types, and get the limit themselves. */
  readonly hasBranches: boolean;
}

/** Changes the node; the caller owns it. */
export function tighten(node: Node, limit: ParamLimit, place: SchemaPlace): Tightened {
  const unsaid: string[] = [];
  let impossible = !fitTypes(node, limit, place);
  lower(node, 'maximum', limit.maximum);
  raise(node, 'minimum', limit.minimum);
  lower(node, 'maxLength', limit.lengthMax);
  raise(node, 'minLength', limit.lengthMin);
  if (can(node, 'array')) lower(node, 'maxItems', limit.itemsMax);
  if (limit.bytesMax !== undefined) {
    unsaid.push('max_size_bytes');
    if (canBeText(node)) lower(node, 'maxLength', limit.bytesMax);
  }
  if (limit.pattern !== undefined && !addPattern(node, limit.pattern.source))
    unsaid.push('pattern');
  if (limit.recipientsMax !== undefined) unsaid.push(...limitRecipients(node, limit, place));
  if (!narrowChoices(node, limit, place)) impossible = true;
  if (impossible) node['not'] = {};
  return { impossible, unsaid, badDefault: dropDefault(node, limit) };
}

const NUMBERS = ['number', 'integer'];

/** The types a value may have under a limit; undefined when the limit is for any. */
function wantedTypes(limit: ParamLimit): readonly string[] | undefined {
  if (limit.maximum !== undefined || limit.minimum !== undefined) return NUMBERS;
  if (isTextual(limit)) return ['string'];
  if (limit.values === undefined) return undefined;
  const types = limit.values.map((value) => typeof value);
  return [...new Set<string>(types.flatMap((type) => (type === 'number' ? NUMBERS : [type])))];
}

/** Keeps the types that the limit is for. False when none is left. */
function fitTypes(node: Node, limit: ParamLimit, { hasBranches }: SchemaPlace): boolean {
  const wanted = wantedTypes(limit);
  if (wanted === undefined) return true;
  const types = typesOf(node);
  if (types === undefined) {
    // Branches are fitted one by one; a list is described by its items.
    if (hasBranches) return true;
    if (Object.hasOwn(node, 'items') || Object.hasOwn(node, 'prefixItems'))
      return setTypes(node, ['array']);
    return setTypes(
      node,
      wanted === NUMBERS ? ['number'] : wanted.filter((type) => type !== 'integer'),
    );
  }
  if (types.includes('array') && !Object.hasOwn(node, 'items')) {
    // How many items there may be holds for the list.
    const { itemsMax: _list, ...itemLimit } = limit;
    const item: Node = {};
    tighten(item, itemLimit, { inList: true, hasBranches: false });
    node['items'] = item;
  }
  return setTypes(
    node,
    types.filter((type) => type === 'array' || wanted.includes(type)),
  );
}

function setTypes(node: Node, types: readonly string[]): boolean {
  const [only] = types;
  if (only === undefined) return false;
  node['type'] = types.length === 1 ? only : types;
  return true;
}

function canBeText(node: Node): boolean {
  return typesOf(node)?.includes('string') ?? true;
}

function lower(node: Node, keyword: string, limit: number | undefined): void {
  if (limit === undefined) return;
  const known = node[keyword];
  node[keyword] = typeof known === 'number' ? Math.min(known, limit) : limit;
}

function raise(node: Node, keyword: string, limit: number | undefined): void {
  if (limit === undefined) return;
  const known = node[keyword];
  node[keyword] = typeof known === 'number' ? Math.max(known, limit) : limit;
}

/** Syntax that RE2 and the expressions of JSON Schema read in the same way. */
const UNSHARED = /\(\?(?!:)|\[\[:|\\[AzQECapPsSZGb<>]|\\[1-9]/;

function addPattern(node: Node, source: string): boolean {
  if (UNSHARED.test(source) || !isExpression(source)) return false;
  if (node['pattern'] === undefined) node['pattern'] = source;
  else if (node['pattern'] !== source)
    node['allOf'] = [...listAt(node, 'allOf'), { pattern: source }];
  return true;
}

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u').source !== '';
  } catch {
    return false;
  }
}

const APART = RECIPIENT_SEPARATORS;
const ONE_RECIPIENT = `^[^@${APART}]*(?:@[^@${APART}]*)?$`;

function limitRecipients(
  node: Node,
  limit: ParamLimit,
  { inList, hasBranches }: SchemaPlace,
): string[] {
  const { recipientsMax = 0 } = limit;
  const types = typesOf(node);
  if (types === undefined && !hasBranches && !Object.hasOwn(node, 'items')) node['type'] = 'string';
  if (canBeText(node) && !hasBranches) {
    const more = `(?:[${APART}][^${APART}]*){0,${Math.max(0, recipientsMax - 1)}}`;
    const several = recipientsMax === 0 ? '^$' : `^[^${APART}]*${more}$`;
    addPattern(node, inList || recipientsMax === 1 ? ONE_RECIPIENT : several);
    if (!inList && recipientsMax > 1) addPattern(node, `^[^@]*(?:@[^@]*){0,${recipientsMax}}$`);
  }
  if (!can(node, 'array')) return can(node, 'object') && !hasBranches ? ['max_recipients'] : [];
  lower(node, 'maxItems', recipientsMax);
  if (node['items'] === undefined && !hasBranches && types !== undefined) {
    node['items'] = { type: 'string', pattern: ONE_RECIPIENT };
  }
  // A list in a list, or objects: how many recipients those hold can only be counted.
  const items: unknown = node['items'];
  const isPlain = isObject(items) && typesOf(items)?.join() === 'string' && !inList;
  return isPlain || hasBranches ? [] : ['max_recipients'];
}

/** Removes listed values that break the limit, and adds the list that the limit itself has. */
function narrowChoices(node: Node, limit: ParamLimit, { hasBranches }: SchemaPlace): boolean {
  const fits = (value: JsonValue) => brokenLimit(limit, value) === undefined;
  if (isJson(node['const']) && !fits(node['const'])) return false;
  const known = node['enum'];
  if (Array.isArray(known)) {
    const left = known.filter((value) => isJson(value) && fits(value));
    // An empty list is no valid schema: the caller adds `not: {}` instead.
    if (left.length > 0) node['enum'] = left;
    return left.length > 0;
  }
  const types = typesOf(node);
  if (limit.values === undefined || hasBranches) return true;
  if (types?.join() === 'array') return true;
  const left =
    types === undefined ? limit.values : limit.values.filter((value) => hasType(value, types));
  if (types?.includes('array') === true) node['type'] = types.filter((type) => type !== 'array');
  if (left.length > 0) node['enum'] = left;
  return left.length > 0;
}

function hasType(value: string | number | boolean, types: readonly string[]): boolean {
  if (typeof value !== 'number') return types.includes(typeof value);
  return types.includes('number') || (Number.isInteger(value) && types.includes('integer'));
}

function dropDefault(node: Node, limit: ParamLimit): boolean {
  const value = node['default'];
  // No value of its own is what most servers mean by null.
  if (value === null || !isJson(value)) return false;
  if (brokenLimit(limit, value) === undefined) return false;
  delete node['default'];
  return true;
}

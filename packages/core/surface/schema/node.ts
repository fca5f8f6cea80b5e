// A JSON schema as a tree of our own: copied within bounds, so that it can be changed in place.
import { isObject } from '@subluminal/contracts';

/** A schema that is an object; of the two boolean ones, `true` becomes an empty object. */
export type Node = { [keyword: string]: unknown };

const DEPTH_MAX = 64;
const VALUES_MAX = 20_000;

/** Keywords that hold one schema, a list of schemas, or schemas by name. */
const SINGLE = `items additionalProperties additionalItems contains not if then else propertyNames
  unevaluatedProperties unevaluatedItems`.split(/\s+/);
const LISTS = 'anyOf oneOf allOf prefixItems items'.split(' ');
const NAMED = 'properties patternProperties $defs definitions dependentSchemas'.split(' ');

/** A copy of the schema, or undefined when it is too large or too deep to be looked through. */
export function copySchema(schema: unknown): Node | undefined {
  const left = { values: VALUES_MAX };
  const copied = copyValue(schema, left, 0);
  if (left.values < 0 || !isObject(copied)) return undefined;
  openTrue(copied, 0);
  return copied;
}

function copyValue(value: unknown, left: { values: number }, depth: number): unknown {
  left.values--;
  if (depth > DEPTH_MAX) left.values = -1;
  if (left.values < 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyValue(item, left, depth + 1));
  // Entries become own properties, `__proto__` included.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, copyValue(item, left, depth + 1)]),
  );
}

/** `true` says what `{}` says, but nothing can be added to it. */
function openTrue(node: Node, depth: number): void {
  if (depth > DEPTH_MAX) return;
  for (const keyword of ['properties', 'patternProperties'] as const) {
    const named = node[keyword];
    if (!isObject(named)) continue;
    const entries = Object.entries(named).map(([key, value]) => [key, opened(value)]);
    node[keyword] = Object.fromEntries(entries);
  }
  for (const keyword of LISTS) {
    const list: unknown = node[keyword];
    if (Array.isArray(list)) node[keyword] = list.map(opened);
  }
  if (node['items'] === true) node['items'] = {};
  for (const child of childrenOf(node)) openTrue(child, depth + 1);
}

function opened(schema: unknown): unknown {
  return schema === true ? {} : schema;
}

/** Every schema directly inside of this one. */
export function childrenOf(node: Node): readonly Node[] {
  const found: unknown[] = SINGLE.map((keyword) => node[keyword]);
  for (const keyword of LISTS) found.push(...listAt(node, keyword));
  for (const keyword of NAMED) found.push(...Object.values(namedAt(node, keyword)));
  return found.filter(isObject);
}

export function listAt(node: Node, keyword: string): readonly unknown[] {
  const value: unknown = node[keyword];
  return Array.isArray(value) ? value : [];
}

export function namedAt(node: Node, keyword: string): Node {
  const value: unknown = node[keyword];
  return isObject(value) ? value : {};
}

export function namesAt(node: Node, keyword: string): readonly string[] {
  return listAt(node, keyword).filter((name) => typeof name === 'string');
}

/** The types that a schema allows; undefined when it does not say. */
export function typesOf(node: Node): readonly string[] | undefined {
  const type: unknown = node['type'];
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? namesAt(node, 'type') : undefined;
}

export function can(node: Node, type: 'object' | 'array'): boolean {
  if (Array.isArray(node['enum']) || Object.hasOwn(node, 'const')) return false;
  return typesOf(node)?.includes(type) ?? true;
}

/** What a reference within the same schema leads to. */
export function resolveRef(root: Node, reference: unknown): Node | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const pointer = decoded(reference.slice(1));
  if (pointer === '') return root;
  if (pointer?.startsWith('/') !== true) return undefined;
  let place: unknown = root;
  for (const step of pointer.slice(1).split('/').slice(0, DEPTH_MAX)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = /^\d{1,6}$/.test(key) ? place[Number(key)] : undefined;
    else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isObject(place) ? place : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

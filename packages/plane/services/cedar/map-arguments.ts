// Arguments of a call → values of Cedar. Different arguments never become the same value, except
// that lists become sets and nulls are listed apart. Arguments without an exact form are refused.
import type { CedarValueJson, SchemaJson } from '@cedar-policy/cedar-wasm/nodejs';
import { isObject } from '@subluminal/contracts';

type MappedArguments =
  | {
      readonly ok: true;
      readonly args: Readonly<Record<string, CedarValueJson>>;
      /** Every string, number and boolean as text, by its path: `to[0]`, `message.to`. */
      readonly flat: Readonly<Record<string, string>>;
      /** The paths of null values, which Cedar does not have. */
      readonly nulls: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

/** Well below the engine's own limit on nesting, 128. */
const DEPTH_MAX = 32;
const NODES_MAX = 5_000;
const CHARS_MAX = 262_144;
/** Keys that the engine takes for its own escapes: an entity or a function call in disguise. */
const ESCAPES: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);

/** Thrown and caught inside this file to end the mapping. */
class Unmappable extends Error {}

interface MappingBudget {
  nodesLeft: number;
  charsLeft: number;
  readonly flat: [string, string][];
  readonly nulls: string[];
}

/** Never throws, whatever the arguments are. */
export function mapArgs(args: unknown, types: ArgumentType | undefined): MappedArguments {
  const walk: MappingBudget = { nodesLeft: NODES_MAX, charsLeft: CHARS_MAX, flat: [], nulls: [] };
  try {
    if (!isObject(args)) throw new Unmappable('the arguments are no object');
    const mapped = mapRecord(args, { walk, path: '', depth: 0, type: types });
    return { ok: true, args: mapped, flat: Object.fromEntries(walk.flat), nulls: walk.nulls };
  } catch (cause) {
    if (cause instanceof Unmappable) return { ok: false, why: cause.message };
    return { ok: false, why: 'the arguments cannot be read' };
  }
}

interface ArgumentPosition {
  readonly walk: MappingBudget;
  readonly path: string;
  readonly depth: number;
  readonly type: ArgumentType | undefined;
}

/** The value, or undefined for null. */
function mapValue(value: unknown, place: ArgumentPosition): CedarValueJson | undefined {
  const { walk, path, depth } = place;
  if (--walk.nodesLeft < 0) throw new Unmappable(`the arguments have more than ${NODES_MAX} parts`);
  if (depth > DEPTH_MAX) throw new Unmappable(`the arguments nest deeper than ${DEPTH_MAX} levels`);
  if (value === null || value === undefined) {
    walk.nulls.push(path);
    return undefined;
  }
  if (typeof value === 'string') {
    spend(walk, value);
    walk.flat.push([path, value]);
    return value;
  }
  if (typeof value === 'boolean' || typeof value === 'number') {
    walk.flat.push([path, String(value === 0 ? 0 : value)]);
    return typeof value === 'boolean' ? value : mapNumber(value, place.type);
  }
  if (Array.isArray(value)) return mapList(value, place);
  if (isObject(value)) return mapRecord(value, place);
  throw new Unmappable(`the argument \`${path}\` is no JSON value`);
}

function mapList(items: readonly unknown[], place: ArgumentPosition): CedarValueJson[] {
  const type = place.type?.kind === 'set' ? place.type.element : undefined;
  const mapped: CedarValueJson[] = [];
  for (const [index, item] of items.entries()) {
    const path = `${place.path}[${index}]`;
    const value = mapValue(item, { ...place, path, depth: place.depth + 1, type });
    if (value !== undefined) mapped.push(value);
  }
  return mapped;
}

function mapRecord(
  value: Record<string, unknown>,
  place: ArgumentPosition,
): Record<string, CedarValueJson> {
  const types = place.type?.kind === 'record' ? place.type.attributes : undefined;
  const entries: [string, CedarValueJson][] = [];
  for (const [key, inner] of Object.entries(value)) {
    if (ESCAPES.has(key)) throw new Unmappable(`the argument name \`${key}\` is reserved by Cedar`);
    spend(place.walk, key);
    const path = pathTo(place.path, key);
    const type = types?.get(key);
    const mapped = mapValue(inner, { ...place, path, depth: place.depth + 1, type });
    if (mapped !== undefined) entries.push([key, mapped]);
  }
  // Unlike an assignment, this takes `__proto__` as a name like any other.
  return Object.fromEntries(entries);
}

/** Counts the text; text that is not valid Unicode would become other text in the engine. */
function spend(walk: MappingBudget, text: string): void {
  walk.charsLeft -= text.length;
  if (walk.charsLeft < 0) {
    throw new Unmappable(`the arguments have more than ${CHARS_MAX} characters`);
  }
  if (/\p{Cs}/u.test(text)) throw new Unmappable('an argument has half of a surrogate pair in it');
}

const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,4}))?$/;
const DECIMAL_WHOLE_MAX = 922_337_203_685_476;

/**
 * Whole numbers are Longs, unless the schema wants a decimal. Others are decimals where that is
 * exact, and otherwise an entity equal only to itself: comparing it fails, which denies the call.
 */
function mapNumber(value: number, type: ArgumentType | undefined): CedarValueJson {
  if (!Number.isFinite(value)) throw new Unmappable('an argument is a number without end');
  const wantsDecimal = type?.kind === 'decimal';
  if (Number.isSafeInteger(value) && !wantsDecimal) return value === 0 ? 0 : value;
  const [, sign = '', whole = '', fraction = '0'] = DECIMAL.exec(String(value)) ?? [];
  if (whole !== '' && Number(whole) <= DECIMAL_WHOLE_MAX) {
    return { __extn: { fn: 'decimal', arg: `${sign}${whole}.${fraction}` } };
  }
  return { __entity: { type: 'Number', id: String(value) } };
}

/** Each argument has one path, and no two share one. */
function pathTo(parent: string, key: string): string {
  if (!/^[A-Za-z_]\w*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** The types that the schema gives the arguments, as far as mapping needs them: decimals. */
export type ArgumentType =
  | { readonly kind: 'decimal' }
  | { readonly kind: 'set'; readonly element: ArgumentType | undefined }
  | { readonly kind: 'record'; readonly attributes: ReadonlyMap<string, ArgumentType> };

/** The type `Arguments`, with the common types that it names resolved. */
export function argumentTypes(schema: SchemaJson<string>): ArgumentType | undefined {
  const common: Record<string, unknown> = schema['']?.commonTypes ?? {};
  return readType(common['Arguments'], common, 0);
}

function readType(
  written: unknown,
  common: Record<string, unknown>,
  depth: number,
): ArgumentType | undefined {
  if (depth > DEPTH_MAX || typeof written !== 'object' || written === null) return undefined;
  const fields: Record<string, unknown> = { ...written };
  const name = typeof fields['name'] === 'string' ? fields['name'] : fields['type'];
  if (name === 'decimal' || name === '__cedar::decimal') return { kind: 'decimal' };
  if (fields['type'] === 'Set') {
    return { kind: 'set', element: readType(fields['element'], common, depth + 1) };
  }
  if (fields['type'] === 'Record') {
    const attributes = new Map<string, ArgumentType>();
    for (const [key, value] of Object.entries(fields['attributes'] ?? {})) {
      const type = readType(value, common, depth + 1);
      if (type !== undefined) attributes.set(key, type);
    }
    return { kind: 'record', attributes };
  }
  const known = typeof name === 'string' && Object.hasOwn(common, name) ? common[name] : undefined;
  return known === undefined ? undefined : readType(known, common, depth + 1);
}

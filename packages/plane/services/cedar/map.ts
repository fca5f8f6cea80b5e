// Arguments of a call → values of Cedar. Different arguments never become the same value, except
// that lists become sets and nulls are listed apart; what cannot be told so is not told at all.
import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { ArgumentType } from './argument-types.ts';

interface MappedArgs {
  readonly ok: true;
  readonly args: Readonly<Record<string, CedarValueJson>>;
  /** Every string, number and flag as text, by its path: `to[0]`, `message.to`. */
  readonly flat: Readonly<Record<string, string>>;
  /** The paths that were null, which Cedar has no value for. */
  readonly nulls: readonly string[];
}

export type Mapped = MappedArgs | { readonly ok: false; readonly why: string };

/** Below the engine's own limit on nesting, which is 128 with what stands around. */
const DEPTH_MAX = 32;
const NODES_MAX = 5_000;
const CHARS_MAX = 262_144;
/** Keys that the engine takes for its own escapes: an entity or a function call in disguise. */
const ESCAPES: ReadonlySet<string> = new Set(['__entity', '__extn', '__expr']);

/** Ends the mapping from inside of it. */
class Unmappable extends Error {}

interface Walk {
  nodesLeft: number;
  charsLeft: number;
  readonly flat: [string, string][];
  readonly nulls: string[];
}

/** Never throws, whatever the arguments are. */
export function mapArgs(args: unknown, types: ArgumentType | undefined): Mapped {
  const walk: Walk = { nodesLeft: NODES_MAX, charsLeft: CHARS_MAX, flat: [], nulls: [] };
  try {
    if (!isRecord(args)) throw new Unmappable('the arguments are no object');
    const mapped = mapRecord(args, { walk, path: '', depth: 0, type: types });
    return { ok: true, args: mapped, flat: ownRecord(walk.flat), nulls: walk.nulls };
  } catch (cause) {
    if (cause instanceof Unmappable) return { ok: false, why: cause.message };
    return { ok: false, why: 'the arguments cannot be read' };
  }
}

interface Place {
  readonly walk: Walk;
  readonly path: string;
  readonly depth: number;
  readonly type: ArgumentType | undefined;
}

/** The value, or undefined for null. */
function mapValue(value: unknown, place: Place): CedarValueJson | undefined {
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
  if (isRecord(value)) return mapRecord(value, place);
  throw new Unmappable(`the argument \`${path}\` is no JSON value`);
}

function mapList(items: readonly unknown[], place: Place): CedarValueJson[] {
  const type = place.type?.kind === 'set' ? place.type.element : undefined;
  const mapped: CedarValueJson[] = [];
  for (const [index, item] of items.entries()) {
    const path = `${place.path}[${index}]`;
    const value = mapValue(item, { ...place, path, depth: place.depth + 1, type });
    if (value !== undefined) mapped.push(value);
  }
  return mapped;
}

function mapRecord(value: Record<string, unknown>, place: Place): Record<string, CedarValueJson> {
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
  return ownRecord(entries);
}

/** Text that is no valid Unicode would become other text on its way. */
function spend(walk: Walk, text: string): void {
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
 * exact, and else an entity that is equal to itself only: comparing it fails, and failing denies.
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

/** One way to write each path, so that no two arguments share one. */
function pathTo(parent: string, key: string): string {
  if (!/^[A-Za-z_]\w*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `__proto__` is a name like any other. */
function ownRecord<V>(entries: readonly (readonly [string, V])[]): Record<string, V> {
  return Object.fromEntries(entries);
}

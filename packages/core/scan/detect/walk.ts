// Every key, string and number of a JSON value, in order and within limits; and the rows of siblings
// that one value may be split over.
import type { Step } from './path.ts';
import { itemStep, memberStep } from './path.ts';
import type { Limits, UnscannedReason } from './types.ts';

export interface Leaf {
  readonly text: string;
  readonly step: Step | undefined;
  readonly kind: 'key' | 'string' | 'number';
  /** The name of the field that holds it. */
  readonly field: string | undefined;
}

interface Walk {
  readonly onLeaf: (leaf: Leaf) => void;
  /** Values that stand side by side: of one object, of one array, of one field over an array. */
  readonly onRow: (row: readonly Leaf[]) => void;
  readonly onGap: (gap: {
    readonly reason: UnscannedReason;
    readonly step: Step | undefined;
    readonly count: number;
  }) => void;
  readonly limits: Limits;
}

interface State extends Walk {
  nodes: number;
  full: boolean;
}

const COLUMNS_MAX = 64;

export function walk(value: unknown, how: Walk): void {
  visit({ ...how, nodes: 0, full: false }, value, { step: undefined, depth: 0, field: undefined });
}

interface At {
  readonly step: Step | undefined;
  readonly depth: number;
  readonly field: string | undefined;
}

/** Looks at one value; gives back the leaf that it is, or those that it holds, for their rows. */
function visit(state: State, value: unknown, at: At): Leaf | readonly Leaf[] | undefined {
  if (state.full) return undefined;
  state.nodes++;
  if (state.nodes > state.limits.nodesMax) {
    state.full = true;
    state.onGap({ reason: 'too_many_nodes', step: at.step, count: 1 });
    return undefined;
  }
  if (typeof value === 'string') return leafOf(state, { text: value, kind: 'string', ...at });
  if (typeof value === 'number')
    return leafOf(state, { text: plainNumber(value), kind: 'number', ...at });
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value !== 'object') {
    if (value !== undefined) state.onGap({ reason: 'not_json', step: at.step, count: 1 });
    return undefined;
  }
  if (at.depth >= state.limits.depthMax) {
    const count = Array.isArray(value) ? value.length : Object.keys(value).length;
    state.onGap({ reason: 'too_deep', step: at.step, count });
  } else if (Array.isArray(value)) visitArray(state, value, at);
  else return visitObject(state, value, at);
  return undefined;
}

/** A number as digits: none of them may hide behind an exponent. */
export function plainNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21
    ? BigInt(value).toString()
    : String(value);
}

function leafOf(state: State, { text, kind, step, field }: At & Pick<Leaf, 'text' | 'kind'>): Leaf {
  const leaf: Leaf = { text, kind, step, field };
  state.onLeaf(leaf);
  return leaf;
}

function visitArray(
  state: State,
  items: readonly unknown[],
  { step: parent, depth, field }: At,
): void {
  const row: Leaf[] = [];
  const columns = new Map<string, Leaf[]>();
  for (const [index, item] of items.entries()) {
    const step = itemStep(parent, index);
    const held = visit(state, item, { step, depth: depth + 1, field });
    if (state.full) break;
    if (isLeaf(held)) row.push(held);
    else if (held !== undefined) addColumns(columns, held);
  }
  if (row.length > 1) state.onRow(row);
  for (const column of columns.values()) if (column.length > 1) state.onRow(column);
}

function isLeaf(held: Leaf | readonly Leaf[] | undefined): held is Leaf {
  return held !== undefined && 'text' in held;
}

/** The fields of an array's objects, each field in order: the parts of one text in many blocks. */
function addColumns(columns: Map<string, Leaf[]>, members: readonly Leaf[]): void {
  for (const member of members) {
    const name = member.field ?? '';
    const column = columns.get(name);
    if (column !== undefined) column.push(member);
    else if (columns.size < COLUMNS_MAX) columns.set(name, [member]);
  }
}

function visitObject(state: State, value: object, { step: parent, depth }: At): readonly Leaf[] {
  const row: Leaf[] = [];
  for (const [index, [key, member]] of Object.entries(value).entries()) {
    const step = memberStep(parent, key, index);
    state.onLeaf({ text: key, kind: 'key', step, field: undefined });
    const held = visit(state, member, { step, depth: depth + 1, field: key });
    if (state.full) break;
    if (isLeaf(held)) row.push(held);
  }
  if (row.length > 1) state.onRow(row);
  return row;
}

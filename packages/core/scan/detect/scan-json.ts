// A JSON value: keys, strings and numbers, alone and put together with their neighbours.

import { classesOf, findingOf, hitsIn } from './scan-text.ts';
import { secretByKey } from './secrets.ts';
import { splitHits } from './split.ts';
import {
  type ContentFinding,
  DEFAULT_LIMITS,
  type FindingClass,
  type ScanLimits,
  type ScanOptions,
  type ScanVerdict,
  type Strictness,
  type Unscanned,
  type UnscannedReason,
} from './types.ts';

interface Progress {
  readonly options: ScanOptions;
  readonly limits: ScanLimits;
  readonly classes: ReadonlySet<FindingClass>;
  readonly strictness: Strictness;
  readonly findings: ContentFinding[];
  readonly unscanned: Unscanned[];
  units: number;
  steps: number;
  dropped: number;
}

const GAPS_MAX = 100;
/** What is that short holds nothing, and most of what JSON holds is that short. */
const SHORT = 4;

export function scanJson(value: unknown, options: ScanOptions): ScanVerdict {
  const progress: Progress = {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    classes: classesOf(options),
    strictness: options.strictness ?? 'result',
    findings: [],
    unscanned: [],
    units: 0,
    steps: 0,
    dropped: 0,
  };
  walk(value, {
    limits: progress.limits,
    onLeaf: (leaf) => scanLeaf(progress, leaf),
    onRow: (row) => scanRow(progress, row),
    onGap: ({ reason, step, count }) => addGap(progress, { reason, path: shownPath(step), count }),
  });
  if (progress.dropped > 0) {
    progress.unscanned.push({ reason: 'too_many_findings', path: null, count: progress.dropped });
  }
  const { findings, unscanned, units, steps } = progress;
  return { findings, unscanned, scannedUnits: units, steps };
}

/** Gaps of one reason add up once there are many. */
function addGap({ unscanned }: Progress, gap: Unscanned): void {
  if (unscanned.length < GAPS_MAX) {
    unscanned.push(gap);
    return;
  }
  const same = unscanned.findLastIndex(({ reason }) => reason === gap.reason);
  const known = unscanned[same];
  if (known === undefined) unscanned.push(gap);
  else unscanned[same] = { ...known, path: null, count: known.count + gap.count };
}

function leafPath({ step, kind }: Leaf): string {
  return shownPath(step) + (kind === 'key' ? OF_KEY : '');
}

function scanLeaf(progress: Progress, leaf: Leaf): void {
  const { options, limits, classes, strictness, findings } = progress;
  const room = limits.unitsMax - progress.units;
  const { length } = leaf.text;
  progress.units += Math.min(length, room);
  if (length > room)
    addGap(progress, { reason: 'too_long', path: leafPath(leaf), count: length - room });
  if (length < SHORT || room <= 0) return;
  const text = leaf.text.slice(0, room);
  const { hits, gaps, steps } = hitsIn({
    text,
    classes,
    strictness,
    findingsMax: limits.findingsMax,
  });
  progress.steps += steps;
  for (const { reason, count } of gaps) addGap(progress, { reason, path: leafPath(leaf), count });
  const byKey =
    classes.has('secret') && leaf.field !== undefined ? secretByKey(leaf.field, text) : undefined;
  const all =
    byKey === undefined || hits.some((hit) => hit.class === 'secret' && hit.score > 1)
      ? hits
      : [...hits, byKey];
  for (const hit of all) {
    if (findings.length >= limits.findingsMax) progress.dropped++;
    else findings.push(findingOf(hit, { text, path: leafPath(leaf), options }));
  }
}

function scanRow(progress: Progress, row: readonly Leaf[]): void {
  const { options, limits, classes, strictness, findings } = progress;
  const pieces = row.map((leaf) => ({ text: leaf.text, of: leaf.step }));
  const { found, skipped, steps } = splitHits<PathStep | undefined>(pieces, {
    classes,
    strictness,
  });
  progress.steps += steps;
  if (skipped > 0) {
    addGap(progress, { reason: 'too_much_work', path: shownPath(row[0]?.step), count: skipped });
  }
  for (const { hit, parts } of found) {
    // A token that is whole in its own field has swallowed what merely stands beside it.
    if (parts.some((part) => isWhole(findings, hit, { path: shownPath(part.of), ...part })))
      continue;
    const value = hit.value ?? '';
    for (const [index, part] of parts.entries()) {
      if (findings.length >= limits.findingsMax) progress.dropped++;
      else if (!isKnown(findings, shownPath(part.of), part)) {
        const whole = findingOf({ ...hit, value }, { text: '', path: shownPath(part.of), options });
        const { start, end } = part;
        findings.push({ ...whole, start, end, part: { index, count: parts.length } });
      }
    }
  }
}

/** Found in its own field already, by the same rule. */
function isWhole(
  findings: readonly ContentFinding[],
  { rule }: { readonly rule: string },
  { path, start, end }: { readonly path: string; readonly start: number; readonly end: number },
): boolean {
  return findings.some(
    (known) =>
      known.path === path &&
      known.rule === rule &&
      known.part === undefined &&
      known.confidence !== 'hint' &&
      known.start <= start &&
      known.end >= end,
  );
}

/** Found already, in its own field or in another row. */
function isKnown(
  findings: readonly ContentFinding[],
  path: string,
  { start, end }: { start: number; end: number },
): boolean {
  return findings.some(
    (known) =>
      known.path === path && known.start <= start && known.end >= end && known.part !== undefined,
  );
}

// Every key, string and number of a JSON value, in order and within limits; and the rows of siblings
// that one value may be split over.

export interface Leaf {
  readonly text: string;
  readonly step: PathStep | undefined;
  readonly kind: 'key' | 'string' | 'number';
  /** The name of the field that holds it. */
  readonly field: string | undefined;
}

interface JsonWalk {
  readonly onLeaf: (leaf: Leaf) => void;
  /** Values that stand side by side: of one object, of one array, of one field over an array. */
  readonly onRow: (row: readonly Leaf[]) => void;
  readonly onGap: (gap: {
    readonly reason: UnscannedReason;
    readonly step: PathStep | undefined;
    readonly count: number;
  }) => void;
  readonly limits: ScanLimits;
}

interface State extends JsonWalk {
  nodes: number;
  full: boolean;
}

const COLUMNS_MAX = 64;

function walk(value: unknown, how: JsonWalk): void {
  visit({ ...how, nodes: 0, full: false }, value, { step: undefined, depth: 0, field: undefined });
}

interface At {
  readonly step: PathStep | undefined;
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

// Where in a JSON value something stands, in words that can't carry anything themselves: a key is
// named only when it is a plain word, else by its number, since a key may be a secret too.

export interface PathStep {
  readonly parent: PathStep | undefined;
  /** A key that may be shown; else the place among its siblings. */
  readonly key: string | undefined;
  readonly index: number;
  readonly of: 'object' | 'array';
}

const PLAIN_KEY = /^(?=.{1,32}$)[A-Za-z_$][A-Za-z_$-]*(?:\d{1,3}[A-Za-z_$-]*){0,2}$/;
const ROOT = '$';
/** What is said about the key itself, not about its value. */
export const OF_KEY = '~';

/** The step to a member of an object. */
export function memberStep(parent: PathStep | undefined, key: string, index: number): PathStep {
  return { parent, key: PLAIN_KEY.test(key) ? key : undefined, index, of: 'object' };
}

export function itemStep(parent: PathStep | undefined, index: number): PathStep {
  return { parent, key: undefined, index, of: 'array' };
}

export function shownPath(step: PathStep | undefined): string {
  const parts: string[] = [];
  for (let at = step; at !== undefined; at = at.parent) {
    if (at.of === 'array') parts.push(`[${at.index}]`);
    else parts.push(at.key === undefined ? `{${at.index}}` : `.${at.key}`);
  }
  return ROOT + parts.toReversed().join('');
}

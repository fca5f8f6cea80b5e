// A JSON value: keys, strings and numbers, alone and put together with their neighbours.
import { findingOf, hitsIn, type ScanPlan, scanPlan } from './scan-text.ts';
import { secretByKey } from './secrets.ts';
import { splitHits } from './split.ts';
import {
  type ContentFinding,
  DEFAULT_LIMITS,
  type DetectorHit,
  type ScanLimits,
  type ScanOptions,
  type ScanVerdict,
  type Unscanned,
  type UnscannedReason,
} from './types.ts';

interface JsonScan {
  readonly options: ScanOptions;
  readonly limits: ScanLimits;
  readonly plan: ScanPlan;
  readonly findings: ContentFinding[];
  readonly unscanned: Unscanned[];
  /** The descriptions of a definition in order: a text may be cut over several of them. */
  readonly descriptions: Leaf[];
  units: number;
  steps: number;
  dropped: number;
  nodes: number;
}

interface JsonPlace {
  readonly path: string;
  readonly depth: number;
  /** The name of the field that holds the value. */
  readonly field: string | undefined;
}

/** A string, or a number as text. */
interface Leaf {
  readonly text: string;
  readonly path: string;
  readonly field: string | undefined;
}

const GAPS_MAX = 100;
/** Shorter texts hold nothing, and most texts in JSON are that short. */
const SHORT = 4;
const COLUMNS_MAX = 64;

export function scanJson(value: unknown, options: ScanOptions): ScanVerdict {
  const scan: JsonScan = {
    options,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    plan: scanPlan(options),
    findings: [],
    unscanned: [],
    descriptions: [],
    units: 0,
    steps: 0,
    dropped: 0,
    nodes: 0,
  };
  visit(scan, value, { path: ROOT_PATH, depth: 0, field: undefined });
  scanRow(scan, scan.descriptions);
  const { findings, unscanned, units, steps, dropped } = scan;
  if (dropped > 0) unscanned.push({ reason: 'too_many_findings', path: null, count: dropped });
  return { findings, unscanned, scannedUnits: units, steps };
}

/** Looks at one value; gives back the leaf that it is, or those that it holds, for their rows. */
function visit(scan: JsonScan, value: unknown, at: JsonPlace): Leaf | readonly Leaf[] | undefined {
  const { limits } = scan;
  if (isFull(scan)) return undefined;
  const gap = (reason: UnscannedReason, count: number) => {
    addGap(scan, { reason, path: at.path, count });
    return undefined;
  };
  scan.nodes++;
  if (isFull(scan)) return gap('too_many_nodes', 1);
  if (typeof value === 'string' || typeof value === 'number') {
    const text = typeof value === 'string' ? value : plainNumber(value);
    const leaf = { text, path: at.path, field: at.field };
    scanLeaf(scan, leaf);
    if (at.field === 'description' && scan.plan.strictness === 'definition') {
      scan.descriptions.push(leaf);
    }
    return leaf;
  }
  if (value === null || value === undefined || typeof value === 'boolean') return undefined;
  if (typeof value !== 'object') return gap('not_json', 1);
  if (at.depth >= limits.depthMax) return gap('too_deep', Object.keys(value).length);
  if (!Array.isArray(value)) return visitObject(scan, value, at);
  visitArray(scan, value, at);
  return undefined;
}

function isFull({ nodes, limits }: JsonScan): boolean {
  return nodes > limits.nodesMax;
}

/** Gaps of one reason add up once there are many. */
function addGap({ unscanned }: JsonScan, gap: Unscanned): void {
  const same = unscanned.findLastIndex(({ reason }) => reason === gap.reason);
  const known = unscanned[same];
  if (unscanned.length < GAPS_MAX || known === undefined) unscanned.push(gap);
  else unscanned[same] = { ...known, path: null, count: known.count + gap.count };
}

/** A number as digits: none of them may hide behind an exponent. */
export function plainNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e21
    ? BigInt(value).toString()
    : String(value);
}

function visitArray(scan: JsonScan, items: readonly unknown[], place: JsonPlace): void {
  const row: Leaf[] = [];
  // The fields of the objects, each in order: the parts of one text in many blocks.
  const columns = new Map<string, Leaf[]>();
  for (const [index, item] of items.entries()) {
    const path = itemPath(place.path, index);
    const held = visit(scan, item, { path, depth: place.depth + 1, field: place.field });
    if (isFull(scan)) break;
    if (isLeaf(held)) row.push(held);
    for (const member of isLeaf(held) ? [] : (held ?? [])) {
      const name = member.field ?? '';
      const column = columns.get(name);
      if (column !== undefined) column.push(member);
      else if (columns.size < COLUMNS_MAX) columns.set(name, [member]);
    }
  }
  for (const each of [row, ...columns.values()]) scanRow(scan, each);
}

function isLeaf(held: Leaf | readonly Leaf[] | undefined): held is Leaf {
  return held !== undefined && 'text' in held;
}

function visitObject(scan: JsonScan, value: object, place: JsonPlace): readonly Leaf[] {
  const row: Leaf[] = [];
  for (const [index, [key, member]] of Object.entries(value).entries()) {
    const path = memberPath(place.path, key, index);
    scanLeaf(scan, { text: key, path: path + OF_KEY, field: undefined });
    const held = visit(scan, member, { path, depth: place.depth + 1, field: key });
    if (isFull(scan)) break;
    if (isLeaf(held)) row.push(held);
  }
  scanRow(scan, row);
  return row;
}

function scanLeaf(scan: JsonScan, { text: whole, path, field }: Leaf): void {
  const { plan, limits } = scan;
  const room = limits.unitsMax - scan.units;
  const { length } = whole;
  scan.units += Math.min(length, room);
  if (length > room) addGap(scan, { reason: 'too_long', path, count: length - room });
  if (length < SHORT || room <= 0) return;
  const text = whole.slice(0, room);
  const { hits, gaps, steps } = hitsIn(text, plan, field);
  scan.steps += steps;
  for (const { reason, count } of gaps) addGap(scan, { reason, path, count });
  for (const hit of hits) addFinding(scan, findingOf(hit, { text, path, options: scan.options }));
  const isKnown = hits.some((hit) => hit.class === 'secret' && hit.score > 1);
  if (isKnown || field === undefined || !plan.classes.has('secret')) return;
  const byKey = secretByKey(field, text);
  if (byKey !== undefined)
    addFinding(scan, findingOf(byKey, { text, path, options: scan.options }));
}

function addFinding(scan: JsonScan, finding: ContentFinding): void {
  if (scan.findings.length >= scan.limits.findingsMax) scan.dropped++;
  else scan.findings.push(finding);
}

/** Values side by side: of one object, of one array, of one field over an array. */
function scanRow(scan: JsonScan, row: readonly Leaf[]): void {
  const [first] = row;
  if (first === undefined || row.length < 2) return;
  const { options, findings } = scan;
  const { found, skipped, steps } = splitHits(row, scan.plan);
  scan.steps += steps;
  if (skipped > 0) addGap(scan, { reason: 'too_much_work', path: first.path, count: skipped });
  for (const { hit, parts } of found) {
    // A token that is whole in its own field has swallowed what merely stands beside it.
    const isWhole = parts.some((part) =>
      findings.some((known) => covers(known, part) && isSureOf(known, hit)),
    );
    if (isWhole) continue;
    for (const [index, part] of parts.entries()) {
      const hasRoom = findings.length < scan.limits.findingsMax;
      if (hasRoom && findings.some((known) => covers(known, part) && known.part !== undefined))
        continue;
      const { path, start, end } = part;
      const finding = findingOf({ ...hit, value: hit.value ?? '' }, { text: '', path, options });
      addFinding(scan, { ...finding, start, end, part: { index, count: parts.length } });
    }
  }
}

type FindingPlace = Pick<ContentFinding, 'path' | 'start' | 'end'>;

function covers(known: ContentFinding, { path, start, end }: FindingPlace): boolean {
  return known.path === path && known.start <= start && known.end >= end;
}

/** Found in its own field already, by the same rule. */
function isSureOf(known: ContentFinding, { rule }: DetectorHit): boolean {
  return known.rule === rule && known.part === undefined && known.confidence !== 'hint';
}

// Where in a JSON value something stands, in words that can't carry anything themselves: a key is
// named only when it is a plain word, else by its number, since a key may be a secret too.

const PLAIN_KEY = /^(?=.{1,32}$)[A-Za-z_$][A-Za-z_$-]*(?:\d{1,3}[A-Za-z_$-]*){0,2}$/;
export const ROOT_PATH = '$';
/** Behind the path of a member: the place is its key, not its value. */
export const OF_KEY = '~';

export function memberPath(parent: string, key: string, index: number): string {
  return parent + (PLAIN_KEY.test(key) ? `.${key}` : `{${index}}`);
}

export function itemPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

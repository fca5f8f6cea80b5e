// A JSON value: keys, strings and numbers, alone and put together with their neighbours.
import { isObject } from '@subluminal/contracts';
import { JsonLeaf, JsonPlace } from './json-place.ts';
import { findingOf, hitsIn, isPlainName, type ScanPlan, scanPlan } from './scan-text.ts';
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
} from './types.ts';

interface JsonScan {
  readonly options: ScanOptions;
  readonly limits: ScanLimits;
  readonly plan: ScanPlan;
  readonly findings: ContentFinding[];
  readonly unscanned: Unscanned[];
  /** The descriptions of a definition in order: a text may be cut over several of them. */
  readonly descriptions: JsonLeaf[];
  units: number;
  steps: number;
  dropped: number;
  nodes: number;
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
  visit(scan, value, new JsonPlace());
  scanRow(scan, scan.descriptions);
  const { findings, unscanned, units, steps, dropped } = scan;
  if (dropped > 0) unscanned.push({ reason: 'too_many_findings', path: null, count: dropped });
  return { findings, unscanned, scannedUnits: units, steps };
}

/** The leaf that a value is, or those that it holds: they are put together with their neighbours. */
type Held = JsonLeaf | readonly JsonLeaf[] | undefined;

function visit(scan: JsonScan, value: unknown, at: JsonPlace): Held {
  if (isFull(scan)) return undefined;
  scan.nodes++;
  if (isFull(scan)) return leaveOut(scan, at, { reason: 'too_many_nodes', count: 1 });
  if (typeof value === 'string' || typeof value === 'number') {
    const text = typeof value === 'string' ? value : plainNumber(value);
    const leaf = new JsonLeaf(text, at);
    scanLeaf(scan, leaf);
    if (at.field === 'description' && scan.plan.strictness === 'definition') {
      scan.descriptions.push(leaf);
    }
    return leaf;
  }
  if (value === null || value === undefined || typeof value === 'boolean') return undefined;
  if (typeof value !== 'object') return leaveOut(scan, at, { reason: 'not_json', count: 1 });
  if (at.depth >= scan.limits.depthMax) {
    return leaveOut(scan, at, { reason: 'too_deep', count: Object.keys(value).length });
  }
  if (isObject(value)) return visitObject(scan, value, at);
  if (Array.isArray(value)) visitArray(scan, value, at);
  return undefined;
}

function leaveOut(
  scan: JsonScan,
  { path }: JsonPlace,
  { reason, count }: Omit<Unscanned, 'path'>,
): undefined {
  addGap(scan, { reason, path, count });
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
  if (Number.isSafeInteger(value)) return String(value);
  return Number.isInteger(value) && Math.abs(value) < 1e21
    ? BigInt(value).toString()
    : String(value);
}

function visitArray(scan: JsonScan, items: readonly unknown[], parent: JsonPlace): void {
  const row: JsonLeaf[] = [];
  // The fields of the objects, each in order: the parts of one text in many blocks.
  let columns: Map<string, JsonLeaf[]> | undefined;
  for (let index = 0; index < items.length; index++) {
    const held = visit(scan, items[index], new JsonPlace({ parent, index, key: undefined }));
    if (isFull(scan)) break;
    if (held instanceof JsonLeaf) row.push(held);
    // A single item has no neighbours.
    else if (held !== undefined && items.length > 1) {
      columns ??= new Map<string, JsonLeaf[]>();
      addColumns(columns, held);
    }
  }
  scanRow(scan, row);
  for (const column of columns?.values() ?? []) scanRow(scan, column);
}

function addColumns(columns: Map<string, JsonLeaf[]>, members: readonly JsonLeaf[]): void {
  for (const member of members) {
    const name = member.field ?? '';
    const column = columns.get(name);
    if (column !== undefined) column.push(member);
    else if (columns.size < COLUMNS_MAX) columns.set(name, [member]);
  }
}

function visitObject(
  scan: JsonScan,
  value: { readonly [key: string]: unknown },
  parent: JsonPlace,
): readonly JsonLeaf[] {
  const row: JsonLeaf[] = [];
  const keys = Object.keys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] ?? '';
    const at = new JsonPlace({ parent, index, key });
    scanLeaf(scan, new JsonLeaf(key, at, true));
    const held = visit(scan, value[key], at);
    if (isFull(scan)) break;
    if (held instanceof JsonLeaf) row.push(held);
  }
  scanRow(scan, row);
  return row;
}

function scanLeaf(scan: JsonScan, leaf: JsonLeaf): void {
  const { plan, limits, options } = scan;
  const room = limits.unitsMax - scan.units;
  const { length } = leaf.text;
  scan.units += Math.min(length, room);
  if (length > room) addGap(scan, { reason: 'too_long', path: leaf.path, count: length - room });
  if (length < SHORT || room <= 0 || (leaf.isKey && isPlainName(leaf.text))) return;
  const text = length > room ? leaf.text.slice(0, room) : leaf.text;
  const { field } = leaf;
  const { hits, gaps, steps, isTurned } = hitsIn(text, plan, field);
  leaf.mayBeTurned = isTurned || length > room;
  scan.steps += steps;
  for (const { reason, count } of gaps) addGap(scan, { reason, path: leaf.path, count });
  for (const hit of hits) addFinding(scan, findingOf(hit, { text, path: leaf.path, options }));
  if (field === undefined || !plan.classes.has('secret')) return;
  const byKey = secretByKey(field, text);
  if (byKey === undefined || hits.some((hit) => hit.class === 'secret' && hit.score > 1)) return;
  addFinding(scan, findingOf(byKey, { text, path: leaf.path, options }));
}

function addFinding(scan: JsonScan, finding: ContentFinding): void {
  if (scan.findings.length >= scan.limits.findingsMax) scan.dropped++;
  else scan.findings.push(finding);
}

/** Values side by side: of one object, of one array, of one field over an array. */
function scanRow(scan: JsonScan, row: readonly JsonLeaf[]): void {
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

// A JSON value: keys, strings and numbers, alone and put together with their neighbours.
import type { Step } from './path.ts';
import { OF_KEY, pathOf } from './path.ts';
import { secretByKey } from './secrets.ts';
import { splitHits } from './split.ts';
import { classesOf, findingOf, hitsIn } from './text.ts';
import type {
  Finding,
  FindingClass,
  Limits,
  ScanOptions,
  Strictness,
  Unscanned,
  Verdict,
} from './types.ts';
import { DEFAULT_LIMITS } from './types.ts';
import type { Leaf } from './walk.ts';
import { walk } from './walk.ts';

interface Progress {
  readonly options: ScanOptions;
  readonly limits: Limits;
  readonly classes: ReadonlySet<FindingClass>;
  readonly strictness: Strictness;
  readonly findings: Finding[];
  readonly unscanned: Unscanned[];
  units: number;
  steps: number;
  dropped: number;
}

const GAPS_MAX = 100;
/** What is that short holds nothing, and most of what JSON holds is that short. */
const SHORT = 4;

export function scanJson(value: unknown, options: ScanOptions): Verdict {
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
    onGap: ({ reason, step, count }) => addGap(progress, { reason, path: pathOf(step), count }),
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
  return pathOf(step) + (kind === 'key' ? OF_KEY : '');
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
  const { found, skipped, steps } = splitHits<Step | undefined>(pieces, { classes, strictness });
  progress.steps += steps;
  if (skipped > 0) {
    addGap(progress, { reason: 'too_much_work', path: pathOf(row[0]?.step), count: skipped });
  }
  for (const { hit, parts } of found) {
    // A token that is whole in its own field has swallowed what merely stands beside it.
    if (parts.some((part) => isWhole(findings, hit, { path: pathOf(part.of), ...part }))) continue;
    const value = hit.value ?? '';
    for (const [index, part] of parts.entries()) {
      if (findings.length >= limits.findingsMax) progress.dropped++;
      else if (!isKnown(findings, pathOf(part.of), part)) {
        const whole = findingOf({ ...hit, value }, { text: '', path: pathOf(part.of), options });
        const { start, end } = part;
        findings.push({ ...whole, start, end, part: { index, count: parts.length } });
      }
    }
  }
}

/** Found in its own field already, by the same rule. */
function isWhole(
  findings: readonly Finding[],
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
  findings: readonly Finding[],
  path: string,
  { start, end }: { start: number; end: number },
): boolean {
  return findings.some(
    (known) =>
      known.path === path && known.start <= start && known.end >= end && known.part !== undefined,
  );
}

// One text: looked at as it stands, folded, and with its wrappings undone; findings come back with
// places in the original.
import type { Range } from '../types.ts';
import { type Disguised, disguisedIn } from './disguised.ts';
import { fold } from './folded-text.ts';
import { detectHidden } from './hidden.ts';
import { detectPersonal } from './personal.ts';
import { detectPhrases } from './phrases.ts';
import { detectSecrets } from './secrets.ts';
import { survey, type TextSurvey } from './survey.ts';
import {
  type Confidence,
  type ContentFinding,
  DEFAULT_LIMITS,
  type DetectorHit,
  type FindingClass,
  type Meter,
  type ScanOptions,
  type ScanVerdict,
  type Strictness,
  type Unscanned,
  type UnscannedReason,
  type View,
} from './types.ts';
import { unwrap } from './unwrap.ts';

/** What was found in one text, and what was not looked at. */
interface TextHits {
  readonly hits: readonly DetectorHit[];
  readonly gaps: readonly { readonly reason: UnscannedReason; readonly count: number }[];
  readonly steps: number;
}

export interface TextTask {
  readonly text: string;
  /** The name of the field that holds the text. */
  readonly field?: string | undefined;
  readonly classes: ReadonlySet<FindingClass>;
  readonly strictness: Strictness;
  readonly findingsMax: number;
}

const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];
const NOT_DISGUISED: Disguised = { hits: [], views: [], skipped: 0 };
const STEPS_PER_UNIT = 64;
const STEPS_FREE = 1 << 20;
const CONFIDENCES: readonly Confidence[] = ['hint', 'likely', 'certain'];

export function scanText(text: string, options: ScanOptions): ScanVerdict {
  const { unitsMax } = { ...DEFAULT_LIMITS, ...options.limits };
  const units = Math.min(text.length, unitsMax);
  const { hits, gaps, steps } = hitsIn({ ...textTask(options), text: text.slice(0, units) });
  const findings = hits.map((hit) => findingOf(hit, { text, path: null, options }));
  const unscanned: Unscanned[] = gaps.map((gap) => ({ ...gap, path: null }));
  if (units < text.length)
    unscanned.push({ reason: 'too_long', path: null, count: text.length - units });
  return { findings, unscanned, scannedUnits: units, steps };
}

/** What is looked for in each text. */
export function textTask(options: ScanOptions): Omit<TextTask, 'text'> {
  const { classes = CLASSES, strictness = 'result', limits } = options;
  const findingsMax = limits?.findingsMax ?? DEFAULT_LIMITS.findingsMax;
  return { classes: new Set(classes), strictness, findingsMax };
}

interface FoundIn {
  readonly text: string;
  readonly path: string | null;
  readonly options: ScanOptions;
}

export function findingOf(hit: DetectorHit, { text, path, options }: FoundIn): ContentFinding {
  const { start, end, rule, label } = hit;
  const fingerprint = options.fingerprint(hit.value ?? text.slice(start, end));
  const confidence = CONFIDENCES[Math.min(3, Math.max(1, hit.score)) - 1] ?? 'hint';
  return { class: hit.class, rule, path, start, end, confidence, fingerprint, label };
}

/** Everything that all detectors find in all views of one text. */
export function hitsIn(task: TextTask): TextHits {
  const { text, field, classes, strictness, findingsMax } = task;
  const meter: Meter = { steps: 0, stepsMax: STEPS_FREE + text.length * STEPS_PER_UNIT };
  const hits = new Map<string, DetectorHit>();
  let dropped = 0;
  const detection = (view: View) => ({
    view,
    field,
    strictness,
    meter,
    found(hit: DetectorHit) {
      if (hit.score < 1 || !classes.has(hit.class)) return;
      const range = inside(view.toSource(hit), text.length);
      const key = `${hit.class} ${hit.rule} ${range.start} ${range.end}`;
      if (hits.size >= findingsMax && !hits.has(key)) dropped++;
      else if ((hits.get(key)?.score ?? 0) < hit.score) {
        const value = hit.value ?? view.text.slice(hit.start, hit.end);
        const { start, orderEnd = hit.end } = hit;
        const whole = inside(view.toSource({ start, end: orderEnd }), text.length);
        hits.set(key, { ...hit, ...range, orderEnd: whole.end, value });
      }
    },
  });
  const lookAt = (view: View, seen: TextSurvey) => {
    const at = detection(view);
    if (classes.has('secret')) detectSecrets(at, seen);
    if (classes.has('personal')) detectPersonal(at, seen);
    detectPhrases(at, classes);
  };
  /** A view as it stands and, where it isn't ASCII, folded. */
  const lookAtBoth = (view: View, seen: TextSurvey) => {
    if (meter.steps > meter.stepsMax) return;
    lookAt(view, seen);
    const folded = seen.isAscii ? undefined : fold(view.text);
    if (folded === undefined) return;
    const toSource = (range: Range) => view.toSource(folded.toSource(range));
    const isWrapped = (range: Range) => view.isWrapped(folded.toSource(range));
    lookAt({ text: folded.text, toSource, isWrapped }, surveyed(folded.text, meter));
  };
  const original: View = { text, toSource: (range) => range, isWrapped: () => false };
  const seen = surveyed(text, meter);
  detectHidden(detection(original), seen);
  lookAtBoth(original, seen);
  const { views, binaryUnits, skippedUnits } = unwrap(text, seen);
  const disguised = classes.has('injection') ? disguisedIn(text) : NOT_DISGUISED;
  for (const hit of disguised.hits) detection(original).found(hit);
  for (const view of [...views, ...disguised.views]) lookAtBoth(view, surveyed(view.text, meter));
  const gaps = [
    { reason: 'binary' as const, count: binaryUnits },
    { reason: 'too_long' as const, count: skippedUnits },
    { reason: 'too_many_findings' as const, count: dropped + disguised.skipped },
    { reason: 'too_much_work' as const, count: meter.steps > meter.stepsMax ? text.length : 0 },
  ].filter(({ count }) => count > 0);
  const found = withoutDoubles([...hits.values()]).map((hit) => {
    return { ...hit, end: Math.max(hit.end, hit.orderEnd ?? hit.end) };
  });
  return { hits: found, gaps, steps: meter.steps };
}

function inside({ start, end }: Range, length: number): Range {
  const from = Math.max(0, Math.min(start, length));
  return { start: from, end: Math.max(from, Math.min(end, length)) };
}

function surveyed(text: string, meter: Meter): TextSurvey {
  meter.steps += text.length;
  return survey(text);
}

/** A finding inside another of its class that is at least as sure says nothing new. */
function withoutDoubles(hits: readonly DetectorHit[]): DetectorHit[] {
  const sorted = hits.toSorted(
    (left, right) => left.start - right.start || right.end - left.end || right.score - left.score,
  );
  const last = new Map<FindingClass, DetectorHit>();
  return sorted.filter((hit) => {
    const outer = last.get(hit.class);
    if (outer !== undefined && hit.end <= outer.end && hit.score <= outer.score) return false;
    last.set(hit.class, hit);
    return true;
  });
}

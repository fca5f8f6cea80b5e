// One text: looked at as it stands, folded, and with its wrappings undone; findings come back with
// places in the original.
import type { Range } from '../types.ts';
import { disguisedIn, NOT_DISGUISED } from './disguised.ts';
import { fold } from './folded-text.ts';
import { detectHidden } from './hidden.ts';
import { detectPersonal } from './personal.ts';
import { detectPhrases, hasPhrases } from './phrases.ts';
import { detectSecrets } from './secrets.ts';
import { survey, type TextSurvey } from './survey.ts';
import {
  type Confidence,
  type ContentFinding,
  DEFAULT_LIMITS,
  type Detection,
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
  readonly gaps: readonly Gap[];
  readonly steps: number;
  /** Something may be written in rot13. */
  readonly isTurned: boolean;
}

interface Gap {
  readonly reason: UnscannedReason;
  readonly count: number;
}

/** What is looked for in each text. */
export interface ScanPlan {
  readonly classes: ReadonlySet<FindingClass>;
  readonly strictness: Strictness;
  readonly findingsMax: number;
}

const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];
const STEPS_PER_UNIT = 64;
const STEPS_FREE = 1 << 20;
const CONFIDENCES: readonly Confidence[] = ['hint', 'likely', 'certain'];
/** Most texts have nothing. */
const NO_HITS: readonly DetectorHit[] = [];
const NO_GAPS: readonly Gap[] = [];

export function scanText(text: string, options: ScanOptions): ScanVerdict {
  const { unitsMax } = { ...DEFAULT_LIMITS, ...options.limits };
  const units = Math.min(text.length, unitsMax);
  const { hits, gaps, steps } = hitsIn(text.slice(0, units), scanPlan(options));
  const findings = hits.map((hit) => findingOf(hit, { text, path: null, options }));
  const unscanned: Unscanned[] = gaps.map((gap) => ({ ...gap, path: null }));
  if (units < text.length)
    unscanned.push({ reason: 'too_long', path: null, count: text.length - units });
  return { findings, unscanned, scannedUnits: units, steps };
}

/** The sets of lists of classes: a policy has one for each direction, and scans every message with it. */
const SETS = new WeakMap<readonly FindingClass[], ReadonlySet<FindingClass>>();

function setOf(classes: readonly FindingClass[]): ReadonlySet<FindingClass> {
  const known = SETS.get(classes);
  if (known !== undefined) return known;
  const set = new Set(classes);
  SETS.set(classes, set);
  return set;
}

export function scanPlan(options: ScanOptions): ScanPlan {
  const { classes = CLASSES, strictness = 'result', limits } = options;
  const findingsMax = limits?.findingsMax ?? DEFAULT_LIMITS.findingsMax;
  return { classes: setOf(classes), strictness, findingsMax };
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

/** Everything that all detectors find in all views of one text; `field` is the name of the field that holds it. */
export function hitsIn(text: string, plan: ScanPlan, field?: string): TextHits {
  const seen = survey(text);
  // Addresses are all that digits alone can be.
  if (seen.isPlain && !(seen.hasDigits && plan.classes.has('personal'))) {
    const steps = text.length * passesOf(plan.classes);
    return { hits: NO_HITS, gaps: NO_GAPS, steps, isTurned: false };
  }
  return new TextScan(text, plan, field).hitsIn(seen);
}

/** The names of fields come again with each message. Only those are kept in which nothing could be found. */
const PLAIN_NAMES = new Set<string>();
const PLAIN_NAMES_MAX = 1_000;
const NAME_LENGTH_MAX = 32;

/** Whether nothing can be found in the name of a field, whatever is looked for. */
export function isPlainName(name: string): boolean {
  if (name.length > NAME_LENGTH_MAX) return false;
  if (PLAIN_NAMES.has(name)) return true;
  const { isPlain, hasDigits } = survey(name);
  if (!isPlain || hasDigits) return false;
  if (PLAIN_NAMES.size >= PLAIN_NAMES_MAX) PLAIN_NAMES.clear();
  PLAIN_NAMES.add(name);
  return true;
}

/** How often a text is counted that has nothing: once for its survey, and once for each family of rules. */
function passesOf(classes: ReadonlySet<FindingClass>): number {
  return 1 + (classes.has('secret') ? 1 : 0) + (hasPhrases(classes) ? 1 : 0);
}

const same = (range: Range) => range;
const never = () => false;

/** A text that has something to look at. */
class TextScan {
  readonly #text: string;
  readonly #plan: ScanPlan;
  readonly #field: string | undefined;
  readonly #meter: Meter;
  #hits: Map<string, DetectorHit> | undefined;
  #dropped = 0;

  constructor(text: string, plan: ScanPlan, field: string | undefined) {
    this.#text = text;
    this.#plan = plan;
    this.#field = field;
    this.#meter = { steps: 0, stepsMax: STEPS_FREE + text.length * STEPS_PER_UNIT };
  }

  hitsIn(seen: TextSurvey): TextHits {
    const text = this.#text;
    const meter = this.#meter;
    const original: View = { text, toSource: same, isWrapped: never };
    const detection = this.#detection(original);
    meter.steps += text.length;
    if (!seen.isAscii || seen.hasControls) detectHidden(detection, seen);
    this.#lookAtBoth(detection, seen);
    const { views, binaryUnits, skippedUnits } = unwrap(text, seen);
    const isOrder = this.#plan.classes.has('injection');
    const disguised = isOrder ? disguisedIn(text, seen) : NOT_DISGUISED;
    for (const hit of disguised.hits) detection.found(hit);
    for (const view of views) this.#lookAtView(view);
    for (const view of disguised.views) this.#lookAtView(view);
    const dropped = this.#dropped + disguised.skipped;
    const unread = meter.steps > meter.stepsMax ? text.length : 0;
    const isWhole = binaryUnits + skippedUnits + dropped + unread === 0;
    const gaps = isWhole
      ? NO_GAPS
      : gapsOf([
          ['binary', binaryUnits],
          ['too_long', skippedUnits],
          ['too_many_findings', dropped],
          ['too_much_work', unread],
        ]);
    const rest = { gaps, steps: meter.steps, isTurned: disguised.isTurned };
    if (this.#hits === undefined) return { hits: NO_HITS, ...rest };
    const hits = withoutDoubles([...this.#hits.values()]).map((hit) => {
      return { ...hit, end: Math.max(hit.end, hit.orderEnd ?? hit.end) };
    });
    return { hits, ...rest };
  }

  #detection(view: View): Detection {
    const { strictness } = this.#plan;
    const found = (hit: DetectorHit) => this.#add(view, hit);
    return { view, field: this.#field, strictness, meter: this.#meter, found };
  }

  #add(view: View, hit: DetectorHit): void {
    const { classes, findingsMax } = this.#plan;
    if (hit.score < 1 || !classes.has(hit.class)) return;
    const { length } = this.#text;
    const hits = (this.#hits ??= new Map<string, DetectorHit>());
    const range = inside(view.toSource(hit), length);
    const key = `${hit.class} ${hit.rule} ${range.start} ${range.end}`;
    if (hits.size >= findingsMax && !hits.has(key)) this.#dropped++;
    else if ((hits.get(key)?.score ?? 0) < hit.score) {
      const value = hit.value ?? view.text.slice(hit.start, hit.end);
      const { start, orderEnd = hit.end } = hit;
      const whole = inside(view.toSource({ start, end: orderEnd }), length);
      hits.set(key, { ...hit, ...range, orderEnd: whole.end, value });
    }
  }

  #lookAtView(view: View): void {
    this.#meter.steps += view.text.length;
    this.#lookAtBoth(this.#detection(view), survey(view.text));
  }

  /** A view as it stands and, where it isn't ASCII, folded. */
  #lookAtBoth(detection: Detection, seen: TextSurvey): void {
    const meter = this.#meter;
    const { view } = detection;
    if (meter.steps > meter.stepsMax) return;
    this.#lookAt(detection, seen);
    const folded = seen.isAscii ? undefined : fold(view.text);
    if (folded === undefined) return;
    const toSource = (range: Range) => view.toSource(folded.toSource(range));
    const isWrapped = (range: Range) => view.isWrapped(folded.toSource(range));
    meter.steps += folded.text.length;
    const plain = this.#detection({ text: folded.text, toSource, isWrapped });
    this.#lookAt(plain, survey(folded.text));
  }

  #lookAt(detection: Detection, seen: TextSurvey): void {
    const { classes } = this.#plan;
    if (classes.has('secret')) detectSecrets(detection, seen);
    if (classes.has('personal')) detectPersonal(detection, seen);
    detectPhrases(detection, seen, classes);
  }
}

function gapsOf(counts: readonly (readonly [UnscannedReason, number])[]): readonly Gap[] {
  return counts.filter(([, count]) => count > 0).map(([reason, count]) => ({ reason, count }));
}

function inside({ start, end }: Range, length: number): Range {
  const from = Math.max(0, Math.min(start, length));
  return { start: from, end: Math.max(from, Math.min(end, length)) };
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

// Where a moment stands on the timeline. Long idle times are folded, so that what happened has the room.
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface TimeAxis {
  /** In ms of what is not folded, and a fixed length for each folded gap. */
  readonly length: number;
  /** The idle times that are folded, and where they stand. */
  readonly folds: readonly (TimeSpan & { readonly from: number; readonly to: number })[];
  place(atMs: number): number;
  moment(place: number): number;
}

/** A stretch of time and the place that it takes. */
interface Stretch extends TimeSpan {
  readonly from: number;
  readonly to: number;
  readonly isFolded: boolean;
}

const FOLDED_MIN_MS = 100;
/** How many times the usual gap a folded one takes. */
const FOLDED_GAPS = 4;
/** A gap that is a smaller part of the whole takes little room anyway. */
const FOLDED_PART = 1 / 50;

/** `busy` are the times in which something went on, in any order. */
export function timeAxis(whole: TimeSpan, busy: readonly TimeSpan[], isFolding: boolean): TimeAxis {
  const gaps = isFolding ? idleTimes(whole, busy) : [];
  const lengths = gaps.map(({ fromMs, toMs }) => toMs - fromMs).toSorted((a, b) => a - b);
  const usualMs = lengths[Math.floor((lengths.length - 1) / 2)] ?? 0;
  const usualFoldMs = Math.max(FOLDED_MIN_MS, usualMs * FOLDED_GAPS);
  const leastMs = Math.max(2 * usualFoldMs, (whole.toMs - whole.fromMs) * FOLDED_PART);
  const folded = gaps.filter(({ fromMs, toMs }) => toMs - fromMs > leastMs);
  const idleMs = folded.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  // Long enough to be seen among the rest, but never longer than the time itself.
  const seenMs = (whole.toMs - whole.fromMs - idleMs) * FOLDED_PART;
  const foldedMs = Math.min(leastMs, Math.max(usualFoldMs, seenMs));
  const stretches = laidOut(whole, folded, foldedMs);
  return {
    length: Math.max(1, stretches.at(-1)?.to ?? 1),
    folds: stretches.filter(({ isFolded }) => isFolded),
    place: (atMs) => placeIn(stretches, atMs),
    moment: (place) => momentIn(stretches, place),
  };
}

function idleTimes(whole: TimeSpan, busy: readonly TimeSpan[]): readonly TimeSpan[] {
  const gaps: TimeSpan[] = [];
  let doneMs = whole.fromMs;
  for (const { fromMs, toMs } of busy.toSorted((one, other) => one.fromMs - other.fromMs)) {
    if (fromMs > doneMs) gaps.push({ fromMs: doneMs, toMs: fromMs });
    doneMs = Math.max(doneMs, toMs);
  }
  if (whole.toMs > doneMs) gaps.push({ fromMs: doneMs, toMs: whole.toMs });
  return gaps;
}

function laidOut(
  whole: TimeSpan,
  folded: readonly TimeSpan[],
  foldedMs: number,
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let atMs = whole.fromMs;
  let place = 0;
  const add = (toMs: number, length: number, isFolded: boolean) => {
    if (toMs <= atMs) return;
    stretches.push({ fromMs: atMs, toMs, from: place, to: place + length, isFolded });
    atMs = toMs;
    place += length;
  };
  for (const { fromMs, toMs } of folded) {
    add(fromMs, fromMs - atMs, false);
    add(toMs, foldedMs, true);
  }
  add(whole.toMs, whole.toMs - atMs, false);
  return stretches;
}

/** The first stretch that reaches so far; the last one for all behind it. */
function reaching(stretches: readonly Stretch[], reaches: (one: Stretch) => boolean) {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const stretch = stretches[middle];
    if (stretch !== undefined && reaches(stretch)) high = middle;
    else low = middle + 1;
  }
  return stretches[low];
}

function placeIn(stretches: readonly Stretch[], atMs: number): number {
  const stretch = reaching(stretches, ({ toMs }) => toMs >= atMs);
  if (stretch === undefined) return 0;
  const { fromMs, toMs, from, to } = stretch;
  const part = Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs)));
  return from + part * (to - from);
}

function momentIn(stretches: readonly Stretch[], place: number): number {
  const stretch = reaching(stretches, ({ to }) => to >= place);
  if (stretch === undefined) return 0;
  const { fromMs, toMs, from, to } = stretch;
  const part = Math.min(1, Math.max(0, (place - from) / (to - from)));
  return fromMs + part * (toMs - fromMs);
}

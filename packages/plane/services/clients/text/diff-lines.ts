// Which lines of two texts differ: what they share at both ends is set aside, the rest is compared by
// Myers' algorithm up to a bound; beyond it, the rest is one change.

/** Lines `leftStart` to `leftEnd` became `rightStart` to `rightEnd`; the ends are exclusive. */
export interface Change {
  readonly leftStart: number;
  readonly leftEnd: number;
  readonly rightStart: number;
  readonly rightEnd: number;
}

interface Lines {
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** So many lines may be added and removed before it is one change; memory grows with the square. */
const STEPS_MAX = 600;

export function compareLines(left: readonly string[], right: readonly string[]): Change[] {
  const shortest = Math.min(left.length, right.length);
  let head = 0;
  while (head < shortest && left[head] === right[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1;
  const middle: Change = {
    leftStart: head,
    leftEnd: left.length - tail,
    rightStart: head,
    rightEnd: right.length - tail,
  };
  if (middle.leftStart === middle.leftEnd && middle.rightStart === middle.rightEnd) return [];
  return compareMiddle({ left, right }, middle) ?? [middle];
}

/** Undefined when it would take too many steps. */
function compareMiddle(lines: Lines, middle: Change): Change[] | undefined {
  const inner = {
    left: lines.left.slice(middle.leftStart, middle.leftEnd),
    right: lines.right.slice(middle.rightStart, middle.rightEnd),
  };
  const trace = findTrace(inner);
  if (trace === undefined) return undefined;
  const changes = changesOf(inner, trace);
  return changes.map((change) => ({
    leftStart: change.leftStart + middle.leftStart,
    leftEnd: change.leftEnd + middle.leftStart,
    rightStart: change.rightStart + middle.rightStart,
    rightEnd: change.rightEnd + middle.rightStart,
  }));
}

/** How far each diagonal reaches after so many steps: one array a step, `k + step` its index. */
function findTrace({ left, right }: Lines): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  let last = new Int32Array(1);
  for (let step = 0; step <= STEPS_MAX; step += 1) {
    const reach = new Int32Array(2 * step + 1);
    trace.push(reach);
    for (let k = -step; k <= step; k += 2) {
      let x = step === 0 ? 0 : startOf(last, step, k);
      while (x < left.length && x - k < right.length && left[x] === right[x - k]) x += 1;
      reach[k + step] = x;
      if (x >= left.length && x - k >= right.length) return trace;
    }
    last = reach;
  }
  return undefined;
}

/** Where diagonal `k` is entered: from above by an addition, or from the left by a removal. */
function startOf(last: Int32Array, step: number, k: number): number {
  return isAddition(last, step, k) ? at(last, step, k + 1) : at(last, step, k - 1) + 1;
}

function isAddition(last: Int32Array, step: number, k: number): boolean {
  return k === -step || (k !== step && at(last, step, k - 1) < at(last, step, k + 1));
}

/** The reach of a diagonal in the step before. */
function at(last: Int32Array, step: number, k: number): number {
  return last[k + step - 1] ?? 0;
}

/** Walks back from the end; neighbouring steps become one change. */
function changesOf({ left, right }: Lines, trace: readonly Int32Array[]): Change[] {
  const changes: Change[] = [];
  let x = left.length;
  let y = right.length;
  for (let step = trace.length - 1; step > 0; step -= 1) {
    const last = trace[step - 1];
    if (last === undefined) break;
    const k = x - y;
    const isAdded = isAddition(last, step, k);
    const fromX = at(last, step, isAdded ? k + 1 : k - 1);
    const fromY = fromX - (isAdded ? k + 1 : k - 1);
    const end = { x: isAdded ? fromX : fromX + 1, y: isAdded ? fromY + 1 : fromY };
    const next = changes.at(-1);
    if (next !== undefined && next.leftStart === end.x && next.rightStart === end.y) {
      changes[changes.length - 1] = { ...next, leftStart: fromX, rightStart: fromY };
    } else {
      changes.push({ leftStart: fromX, leftEnd: end.x, rightStart: fromY, rightEnd: end.y });
    }
    x = fromX;
    y = fromY;
  }
  return changes.toReversed();
}

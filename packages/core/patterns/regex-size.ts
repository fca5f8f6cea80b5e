// Estimates how large a regular expression gets when its counted repetitions are written out, before
// it is compiled: compiling takes the time.

interface RegexSize {
  /** About as many as the instructions of the compiled program. */
  readonly parts: number;
  /** The sum of all counts. */
  readonly repeats: number;
}

interface RegexGroup {
  parts: number;
  /** The part of it that a repetition would repeat. */
  last: number;
}

const COUNTED = /\{(\d+)(,?)(\d*)\}/y;
/** An escape, with what belongs to it; quoted text counts sign by sign below. */
const ESCAPE = /\\(?:[pPx]\{[^}]*\}|x[0-9A-Fa-f]{2}|[0-7]{1,3}|[\s\S])/uy;
const CLASS = /\[\^?\]?(?:\[:\^?\w*:\]|\\[\s\S]|[^\]\\])*\]?/uy;

/** Estimates a size; what is no valid expression gets some number, and fails to compile. */
export function regexSize(source: string): RegexSize {
  const outer: RegexGroup[] = [];
  let group: RegexGroup = { parts: 0, last: 0 };
  let repeats = 0;
  let index = 0;
  while (index < source.length) {
    const char = source[index] ?? '';
    const counted = char === '{' ? matchAt(COUNTED, source, index) : null;
    if (counted !== null) {
      const [, low = '', , high = ''] = counted;
      const times = Math.max(1, Number(low), Number(high));
      repeats += times;
      group.parts += group.last * (times - 1);
      group.last *= times;
    } else if (char === '(') {
      outer.push(group);
      group = { parts: 2, last: 0 };
    } else if (char === ')') {
      const inner = group;
      group = outer.pop() ?? { parts: 0, last: 0 };
      addPart(group, inner.parts);
    } else if (char === '*' || char === '+' || char === '?') {
      group.parts += 1;
      group.last += 1;
    } else addPart(group, 1);
    index += counted?.[0].length ?? lengthAt(source, index);
  }
  const parts = outer.reduce((sum, open) => sum + open.parts, group.parts);
  return { parts, repeats };
}

function addPart(group: RegexGroup, parts: number): void {
  group.parts += parts;
  group.last = parts;
}

/** How long the sign is that stands here. */
function lengthAt(source: string, index: number): number {
  const char = source[index];
  if (char === '\\') return matchAt(ESCAPE, source, index)?.[0].length ?? 1;
  if (char === '[') return matchAt(CLASS, source, index)?.[0].length ?? 1;
  return 1;
}

function matchAt(pattern: RegExp, source: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(source);
}

/** An expression as the engine gets it: what is checked must be what is compiled. */
export function regexSource(source: string, ignoresCase: boolean): string {
  return ignoresCase ? `(?i)${source}` : source;
}

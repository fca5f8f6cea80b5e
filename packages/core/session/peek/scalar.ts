// A number or one of the three words of JSON, byte by byte as it goes by.

/** How far a scalar has come. */
export interface ScalarStage {
  /** The bytes that may come next, and where each of them leads. */
  readonly next: Map<number, ScalarStage>;
  /** Whether the scalar may end here. */
  readonly isComplete: boolean;
}

const DIGITS = '0123456789';

function stage(isComplete: boolean): ScalarStage {
  return { next: new Map(), isComplete };
}

function lead(from: ScalarStage, characters: string, to: ScalarStage): void {
  for (const character of characters) from.next.set(character.charCodeAt(0), to);
}

/** Before the first byte. */
export const SCALAR_START = stage(false);

const minus = stage(false);
const zero = stage(true);
const integer = stage(true);
const dot = stage(false);
const fraction = stage(true);
const exponent = stage(false);
const sign = stage(false);
const power = stage(true);

lead(SCALAR_START, '-', minus);
for (const from of [SCALAR_START, minus]) {
  lead(from, DIGITS, integer);
  lead(from, '0', zero);
}
lead(integer, DIGITS, integer);
for (const from of [zero, integer]) lead(from, '.', dot);
for (const from of [dot, fraction]) lead(from, DIGITS, fraction);
for (const from of [zero, integer, fraction]) lead(from, 'eE', exponent);
lead(exponent, '+-', sign);
for (const from of [exponent, sign, power]) lead(from, DIGITS, power);
for (const word of ['true', 'false', 'null']) {
  let from = SCALAR_START;
  for (const [index, character] of [...word].entries()) {
    const to = stage(index === word.length - 1);
    lead(from, character, to);
    from = to;
  }
}

import { DECISION_LOOKS } from '@subluminal/contracts';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { decisionMark, decisionPaint } from './decision-look.ts';
import { displayWidth } from './text.ts';

const DECISIONS = Object.keys(DECISION_LOOKS) as (keyof typeof DECISION_LOOKS)[];

test('each decision has a mark of its own, one cell wide', () => {
  const marks = DECISIONS.map(decisionMark);
  expect(new Set(marks).size).toBe(DECISIONS.length);
  expect(marks.map(displayWidth)).toEqual(DECISIONS.map(() => 1));
  expect(decisionMark('LATER')).toBe('·');
  expect(marks.join('')).toBe('●◆◐▲■✕');
});

test('a terminal shows the colours of the page where it can, and the nearest of 16 elsewhere', () => {
  const sixteen = picocolors.createColors(true);
  expect(decisionPaint('BLOCK', sixteen)('x')).toBe('\u001b[31mx\u001b[39m');
  expect(decisionPaint('REJECT_WITH_HINT', sixteen)('x')).toBe('\u001b[35mx\u001b[39m');
  const all = { ...sixteen, isTrueColor: true };
  expect(decisionPaint('BLOCK', all)('x')).toBe('\u001b[38;2;213;94;0mx\u001b[39m');
  expect(decisionPaint('ALLOW', all)('x')).toBe('\u001b[38;2;0;158;115mx\u001b[39m');
  const none = { ...picocolors.createColors(false), isTrueColor: true };
  expect(decisionPaint('BLOCK', none)('x')).toBe('x');
});

test('every colour can be read on a black terminal', () => {
  const all = { ...picocolors.createColors(true), isTrueColor: true };
  for (const decision of DECISIONS) {
    const [, ...rgb] = /38;2;(\d+);(\d+);(\d+)m/.exec(decisionPaint(decision, all)('x')) ?? [];
    expect(contrastToBlack(rgb.map(Number)), decision).toBeGreaterThan(4);
  }
});

/** By WCAG 2. */
function contrastToBlack(rgb: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = rgb.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) / 0.05;
}

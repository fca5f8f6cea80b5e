// The mark and the colour of a decision in a terminal, the same as on the page.
import { DECISION_LOOKS } from '@subluminal/contracts';
import type { Colors } from './io.ts';

type ShownDecision = keyof typeof DECISION_LOOKS;
export type Paint = (text: string) => string;

/** The nearest of the 16 colours. */
const NEAREST: {
  readonly [D in ShownDecision]: 'green' | 'magenta' | 'blue' | 'yellow' | 'red';
} = {
  ALLOW: 'green',
  REJECT_WITH_HINT: 'magenta',
  ASK: 'blue',
  THROTTLE: 'yellow',
  BLOCK: 'red',
  TERMINATE_RUN: 'red',
};

/** A row of the ledger may have a decision of a newer version. */
function isKnown(decision: string): decision is ShownDecision {
  return Object.hasOwn(DECISION_LOOKS, decision);
}

export function decisionMark(decision: string): string {
  return isKnown(decision) ? DECISION_LOOKS[decision].shape : '·';
}

export function decisionPaint(decision: string, colors: Colors): Paint {
  if (!isKnown(decision)) return colors.yellow;
  if (!colors.isColorSupported || colors.isTrueColor !== true) return colors[NEAREST[decision]];
  const rgb = Number.parseInt(DECISION_LOOKS[decision].colour.slice(1), 16);
  const start = `\u001b[38;2;${rgb >> 16};${(rgb >> 8) & 255};${rgb & 255}m`;
  return (text) => `${start}${text}\u001b[39m`;
}

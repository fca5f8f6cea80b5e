// The mark and the colour of a decision in a terminal, the same as on the page.
import { DECISION_LOOKS } from '@subluminal/contracts';
import type { Colors } from './io.ts';

type ShownDecision = keyof typeof DECISION_LOOKS;
export type Paint = (text: string) => string;

/** The nearest of the 16 colours that can be read on black: plain blue cannot. */
const NEAREST: {
  readonly [D in ShownDecision]: 'green' | 'magenta' | 'blueBright' | 'yellow' | 'red';
} = {
  ALLOW: 'green',
  REJECT_WITH_HINT: 'magenta',
  ASK: 'blueBright',
  THROTTLE: 'yellow',
  BLOCK: 'red',
  TERMINATE_RUN: 'red',
};

/** Dark red is for fills: as text, nobody reads it on black. This one can be read on black and on white. */
const TEXT_COLOURS: { readonly [decision: string]: string } = { TERMINATE_RUN: '#E0383E' };

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
  const colour = TEXT_COLOURS[decision] ?? DECISION_LOOKS[decision].colour;
  const rgb = Number.parseInt(colour.slice(1), 16);
  const start = `\u001b[38;2;${rgb >> 16};${(rgb >> 8) & 255};${rgb & 255}m`;
  return (text) => `${start}${text}\u001b[39m`;
}

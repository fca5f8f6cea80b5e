// How a decision looks, on the page and in a terminal: one word, one shape and one colour each (Okabe–Ito), so that
// nobody depends on the colour.
import type { Action } from './decision.ts';

export interface DecisionLook {
  readonly word: string;
  readonly shape: string;
  /** For marks and fills; text on a background may need a darker or lighter one. */
  readonly colour: `#${string}`;
}

/** `ASK`: the call waits for a person. */
export const DECISION_LOOKS: { readonly [K in Action | 'ASK']: DecisionLook } = {
  ALLOW: { word: 'allow', shape: '●', colour: '#009E73' },
  REJECT_WITH_HINT: { word: 'hint', shape: '◆', colour: '#CC79A7' },
  ASK: { word: 'ask', shape: '◐', colour: '#0072B2' },
  THROTTLE: { word: 'throttle', shape: '▲', colour: '#E69F00' },
  BLOCK: { word: 'block', shape: '■', colour: '#D55E00' },
  TERMINATE_RUN: { word: 'terminate', shape: '✕', colour: '#8B0000' },
};

// Looks at a text before it is remembered: secrets are taken out, personal data is named, and what reads as an order
// is held back.
import { redactFindings, scanText } from '@subluminal/core/detect';
import type { Redactor } from '@subluminal/core/scan';
import { instructionSigns } from './instruction-signs.ts';

export interface AdmittedText {
  readonly text: string;
  /** Kinds of personal data. */
  readonly tags: readonly string[];
  /** Why it reads as an order: rules of the scanner and signs of our own. */
  readonly orders: readonly string[];
}

const REASONS_MAX = 16;
/** Nobody looks at the values of findings here. */
const fingerprint = () => '';

export function admitText(text: string, redactor: Redactor): AdmittedText {
  const { findings } = scanText(text, { fingerprint, classes: ['secret', 'personal'] });
  const tags = findings.filter(({ class: found }) => found === 'personal').map(({ rule }) => rule);
  const secrets = findings.filter(({ class: found }) => found === 'secret');
  const clean = redactor.plain(redactFindings(text, secrets));
  return { text: clean, tags: [...new Set(tags)].slice(0, REASONS_MAX), orders: ordersIn(text) };
}

/** Orders are judged as in a tool's definition: a model would take both for a rule. */
export function ordersIn(text: string): readonly string[] {
  const hidden = scanText(text, { fingerprint, classes: ['hidden_text'] });
  const strict = { fingerprint, classes: ['injection'], strictness: 'definition' } as const;
  const rules = [...scanText(text, strict).findings, ...hidden.findings]
    .filter(({ confidence }) => confidence !== 'hint')
    .map(({ class: found, rule }) => `${found}:${rule}`);
  return [...new Set([...rules, ...instructionSigns(text)])].slice(0, REASONS_MAX);
}

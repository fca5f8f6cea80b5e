// What `sub tail` prints: lines for people, or JSON for programs.
import { harmlessJson } from '@subluminal/core/visible';
import type { Folded } from './fold.ts';
import { type LineOptions, LineTeller } from './lines.ts';

export interface Printer {
  tell(folded: Folded): readonly string[];
}

export function createPrinter({
  json,
  ...options
}: LineOptions & { readonly json: boolean }): Printer {
  if (!json) return new LineTeller(options);
  return { tell: (folded) => [harmlessJson(JSON.stringify(flatCall(folded)))] };
}

/** The names of the subject stand beside the other fields of a call. */
function flatCall(folded: Folded): object {
  if (folded.kind !== 'call') return folded;
  const { kind, run_id, agent_id, call_id, subject, ...rest } = folded;
  const { kind: subjectKind, ...names } = subject;
  return { kind, run_id, agent_id, call_id, subject: subjectKind, ...names, ...rest };
}

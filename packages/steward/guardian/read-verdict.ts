// The answer of the guardian, read strictly: one JSON object, nothing around it, the number of this case in it. The
// number is drawn for each case, so no text that was written before can hold it: what a model repeats from the data is
// no verdict.
import { isJsonObject } from '@subluminal/contracts';
import { canonicalize } from '@subluminal/core/json';
import { visible } from '@subluminal/core/visible';
import type { Judgement } from '@subluminal/plane/agent-run';
import { parseJson } from '@subluminal/plane/os';

export type ReadVerdict =
  | { readonly kind: 'verdict'; readonly verdict: Judgement['verdict']; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly why: string };

const VERDICTS: ReadonlySet<string> = new Set(['ALLOW', 'BLOCK', 'ESCALATE_TO_HUMAN']);
const MEMBERS = 'case,reason,verdict';
const ANSWER_LENGTH_MAX = 4_000;
const REASON_LENGTH_MAX = 300;
/** Many models put a fence around JSON, whatever they are told; it must be all there is. */
const FENCE = /^```(?:json)?\n([^`]*)\n```$/;

export function readVerdict(answer: string, caseId: string): ReadVerdict {
  if (answer.length > ANSWER_LENGTH_MAX) return unreadable('its answer is too long');
  const trimmed = answer.trim();
  const text = FENCE.exec(trimmed)?.[1] ?? trimmed;
  // It also refuses members that stand there twice.
  if (!canonicalize(text, { foldsKeys: true }).ok)
    return unreadable('its answer is no JSON object');
  const value = parseJson(text);
  if (!isJsonObject(value) || Object.keys(value).toSorted().join(',') !== MEMBERS) {
    return unreadable('its answer has other members than a verdict');
  }
  const { case: given, verdict, reason } = value;
  if (given !== caseId) return unreadable('its answer is not to this case');
  if (typeof reason !== 'string' || typeof verdict !== 'string' || !isVerdict(verdict)) {
    return unreadable('its answer has no verdict');
  }
  const said = reason.trim() === '' ? 'It gave no reason.' : reason.trim();
  return { kind: 'verdict', verdict, reason: visible(said, REASON_LENGTH_MAX) };
}

function isVerdict(text: string): text is Judgement['verdict'] {
  return VERDICTS.has(text);
}

function unreadable(why: string): ReadVerdict {
  return { kind: 'unreadable', why };
}

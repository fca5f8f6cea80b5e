// A call that waits for a person, as a question: all of it, so that nobody decides about what they
// have not seen. Everything in it is hostile text: it stands behind a bar, and hides nothing.

import { isObject, type JsonValue } from '@subluminal/contracts';
import { harmless, visible } from '@subluminal/core/visible';
import { type Decided, type Ended, type Entry, shortId } from '@subluminal/plane/approvals';
import { harmlessLines } from '../shared/split-text.ts';
import type { Confirmation } from '../shared/types.ts';

/** On a channel nobody answers later than this. */
const ANSWER_MS = 5 * 60_000;
const NAME_LENGTH_MAX = 100;
const FACT_LENGTH_MAX = 300;

export function approvalQuestion({ request, sha256 }: Entry): Confirmation {
  const { call, agent, about } = request;
  const action = `${harmless(call.server)}.${harmless(call.tool)}`;
  const lines = [
    `Why it asks: ${visible(call.reason, FACT_LENGTH_MAX)}`,
    ...quoted('You said:', about?.request ?? ''),
    ...quoted('Its reasoning:', about?.reasoning ?? ''),
    ...(about?.judgements ?? []).map(({ by, verdict, reason }) => {
      const why = visible(reason, FACT_LENGTH_MAX);
      return `${visible(by, NAME_LENGTH_MAX)}: ${verdict}. ${why}`.trimEnd();
    }),
    ...argumentLines(call.args),
  ];
  const details = [
    `Rule: ${visible(call.rule_id, NAME_LENGTH_MAX)}`,
    `Risk: ${call.risk.length === 0 ? 'none named' : visible(call.risk.join(', '), FACT_LENGTH_MAX)}`,
    `Task: ${visible(about?.task || 'not named', FACT_LENGTH_MAX)}`,
    `Agent: ${visible(agent.agent_id, NAME_LENGTH_MAX)} (${agent.env}), run ${visible(call.run_id, NAME_LENGTH_MAX)}`,
    `Call: ${visible(call.call_id, NAME_LENGTH_MAX)}, arguments ${call.args_hash}`,
    `Policy: ${call.policy_hash}`,
    `Request: ${request.id}`,
  ];
  const answerEndMs = Date.parse(request.created_at) + ANSWER_MS;
  return {
    id: request.id,
    sha256,
    title: `May I do this? ${action}`,
    lines,
    details,
    isWhole: call.args_complete,
    showCommand: `sub approvals show ${shortId(request.id)}`,
    expiresAtMs: Math.min(Date.parse(request.expires_at), answerEndMs),
  };
}

/** Every argument; a text of several lines as these lines, so that it can be read. */
function argumentLines(args: JsonValue): readonly string[] {
  if (!isObject(args)) return quoted('With:', JSON.stringify(args, null, 2));
  return Object.entries(args).flatMap(([name, value]) => {
    const isLong = typeof value === 'string' && value.includes('\n');
    const label = `${harmless(name)}${isLong ? ' (text)' : ''}:`;
    return quoted(label, isLong ? value : JSON.stringify(value, null, 2));
  });
}

/** A line of its own begins no line of ours. */
function quoted(label: string, text: string): readonly string[] {
  if (text === '') return [];
  return [label, ...harmlessLines(text).map((line) => `│ ${line}`)];
}

export function endWords(ended: Ended): string {
  if (ended.kind !== 'request' || ended.outcome === null)
    return 'This has ended without an answer.';
  const { state, by, channel, note } = ended.outcome;
  if (state === 'expired') return 'Nobody answered in time, so it was not done.';
  const why = note === undefined ? '' : ` “${visible(note, FACT_LENGTH_MAX)}”`;
  return `${state} by ${visible(by, FACT_LENGTH_MAX)} (${visible(channel, 40)}).${why}`;
}

/** What the one who answered is told. */
export function decidedWords(decided: Decided): string {
  switch (decided.kind) {
    case 'ended':
      return decided.outcome.state === 'approved' ? 'Approved.' : 'Rejected.';
    case 'already':
      return `Too late: it was ${decided.outcome.state} before. Nothing was changed.`;
    case 'changed':
    case 'missing':
    case 'damaged':
      return 'This request is not there any more, or is not what was shown. Nothing was decided.';
    default:
      return 'Your answer could not be kept. Nothing was decided.';
  }
}

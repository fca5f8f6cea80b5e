// An answer of the Responses wire in our own words.
import { definedFields, type Failure, type JsonObject, tableFailure } from '@subluminal/contracts';
import { blockTypes } from '../shared/answer-facts.ts';
import type { Block, ModelAnswer, StopReason } from '../shared/form.ts';
import { errorFrom } from '../shared/openai-errors.ts';
import { listIn, objectIn, objectsIn, Problems, restOf, stringIn } from '../shared/read-members.ts';
import { RESPONSES } from './parts.ts';
import { readItem } from './read-items.ts';
import { readResponsesUsage } from './usage.ts';

const FIX = 'Check that the endpoint speaks the Responses API.';
const KNOWN = new Set([
  'id',
  'object',
  'model',
  'output',
  'usage',
  'status',
  'incomplete_details',
  'error',
]);

export function readResponsesAnswer(body: JsonObject): ModelAnswer | Failure {
  const status = stringIn(body, 'status') ?? 'completed';
  const error = body['error'] ?? null;
  if (error !== null || status === 'failed' || status === 'cancelled') {
    return tableFailure('SUB_WIRE_ANSWER', errorFrom(error ?? `It is ${status}.`, 502).message);
  }
  if (listIn(body, 'output') === undefined) {
    return tableFailure('SUB_WIRE_ANSWER', 'It has no `output`.');
  }
  if (status !== 'completed' && status !== 'incomplete') {
    return tableFailure(
      'SUB_WIRE_ANSWER',
      'It is not complete: the provider works in the background.',
    );
  }
  const problems = new Problems();
  const blocks = objectsIn(body, 'output').flatMap(
    (item, index) => readItem(item, { path: `output[${index}]`, problems }).blocks,
  );
  const problem = problems.failure('SUB_WIRE_ANSWER', FIX);
  if (problem !== undefined) return problem;
  const usage = objectIn(body, 'usage');
  return {
    id: stringIn(body, 'id') ?? '',
    model: stringIn(body, 'model') ?? '',
    blocks,
    stop: stopReason(body, blockTypes(blocks)),
    ...definedFields({
      usage: usage && readResponsesUsage(usage),
      rest: restOf(RESPONSES, body, KNOWN),
    }),
  };
}

/** Why a response ended, from its status and what is in it. */
export function stopReason(response: JsonObject, types: ReadonlySet<Block['type']>): StopReason {
  if (stringIn(response, 'status') === 'incomplete') {
    const details = objectIn(response, 'incomplete_details') ?? {};
    return stringIn(details, 'reason') === 'content_filter' ? 'refusal' : 'max_tokens';
  }
  if (types.has('tool_use')) return 'tool_use';
  return types.has('refusal') ? 'refusal' : 'end_turn';
}

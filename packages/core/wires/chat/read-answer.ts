// An answer of the chat wire in our own words.
import { definedFields, type Failure, type JsonObject, tableFailure } from '@subluminal/contracts';
import { blockTypes } from '../shared/answer-facts.ts';
import type { Block, ModelAnswer, StopReason } from '../shared/form.ts';
import { objectIn, objectsIn, Problems, restOf, stringIn } from '../shared/read-members.ts';
import { CHAT, readContent } from './parts.ts';
import { assistantBlocks } from './read-request.ts';
import { readChatUsage } from './usage.ts';

const FIX = 'Check that the endpoint speaks the Chat Completions API.';
const KNOWN = new Set(['id', 'object', 'model', 'choices', 'usage']);

export function readChatAnswer(body: JsonObject): ModelAnswer | Failure {
  const [choice, ...others] = objectsIn(body, 'choices');
  const message = choice && objectIn(choice, 'message');
  if (choice === undefined || message === undefined) {
    return tableFailure('SUB_WIRE_ANSWER', 'It has no `choices[0].message`.');
  }
  if (others.length > 0) {
    return tableFailure('SUB_WIRE_ANSWER', 'It has more than one of `choices`.');
  }
  const problems = new Problems();
  const content = readContent(message['content'], { path: 'choices[0].message.content', problems });
  const problem = problems.failure('SUB_WIRE_ANSWER', FIX);
  if (problem !== undefined) return problem;
  const id = stringIn(body, 'id') ?? '';
  const blocks = assistantBlocks(message, content).map((block, index) =>
    block.type === 'tool_use' && block.id === ''
      ? { ...block, id: fallbackCallId(id, index) }
      : block,
  );
  const usage = objectIn(body, 'usage');
  return {
    id,
    model: stringIn(body, 'model') ?? '',
    blocks,
    stop: readStopReason(stringIn(choice, 'finish_reason'), blockTypes(blocks)),
    ...definedFields({
      usage: usage && readChatUsage(usage),
      rest: restOf(CHAT, body, KNOWN),
    }),
  };
}

/** Some servers say `stop` where they ask for tools, or when the model refuses. */
export function readStopReason(
  reason: string | undefined,
  types: ReadonlySet<Block['type']>,
): StopReason {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'content_filter') return 'refusal';
  if (types.has('tool_use')) return 'tool_use';
  return types.has('refusal') ? 'refusal' : 'end_turn';
}

/** The id of a call that came without one: no other answer has the same. */
export function fallbackCallId(answerId: string, index: number): string {
  return `call_${answerId.replaceAll(/[^A-Za-z0-9]/g, '').slice(-24)}_${index}`;
}

// An answer of the Anthropic wire in our own words.
import { definedFields, type Failure, type JsonObject, tableFailure } from '@subluminal/contracts';
import type { ModelAnswer, StopReason } from '../shared/form.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { Problems } from '../shared/read-members.ts';
import { ANTHROPIC, readContent } from './read-blocks.ts';
import { readAnthropicUsage } from './usage.ts';

const FIX = 'Check that the endpoint speaks the Messages API.';

export const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end_turn'],
  ['max_tokens', 'max_tokens'],
  ['tool_use', 'tool_use'],
  ['stop_sequence', 'stop_sequence'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'context_full'],
]);

export function readAnthropicAnswer(body: JsonObject): ModelAnswer | Failure {
  const problems = new Problems();
  const members = new MemberReader(body);
  if (!members.is('type', 'message')) {
    return tableFailure('SUB_WIRE_ANSWER', 'It is not a message.');
  }
  members.is('role', 'assistant');
  const blocks = readContent(members.list('content'), { path: 'content', problems });
  const problem = problems.failure('SUB_WIRE_ANSWER', FIX);
  if (problem !== undefined) return problem;
  return {
    id: members.string('id') ?? '',
    model: members.string('model') ?? '',
    blocks,
    // An unknown reason is kept in `rest`, and written again on this wire.
    stop: members.word('stop_reason', STOP_REASONS) ?? 'end_turn',
    ...definedFields({
      stopSequence: members.string('stop_sequence'),
      usage: readAnthropicUsage(members),
    }),
    ...definedFields({ rest: members.rest(ANTHROPIC) }),
  };
}

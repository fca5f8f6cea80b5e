// An answer of the chat wire from our own words.
import type { JsonObject } from '@subluminal/contracts';
import { Degraded, noteForeign } from '../shared/degraded.ts';
import type { ModelAnswer, StopReason } from '../shared/form.ts';
import { jsonObject, restMembers } from '../shared/read-members.ts';
import type { AnswerOptions, Written } from '../shared/wire.ts';
import { CHAT } from './parts.ts';
import { writeChatUsage } from './usage.ts';
import { assistantMessage } from './write-request.ts';

export function writeChatAnswer(
  answer: ModelAnswer,
  { createdSec = 0 }: AnswerOptions = {},
): Written<JsonObject> {
  const degraded = new Degraded();
  noteForeign(answer, CHAT, degraded);
  const { content = null, refusal = null, ...message } = assistantMessage(answer.blocks, degraded);
  const value = jsonObject({
    id: answer.id,
    object: 'chat.completion',
    created: createdSec,
    model: answer.model,
    choices: [
      {
        index: 0,
        message: { ...message, content, refusal },
        logprobs: null,
        finish_reason: FINISH_REASONS[answer.stop],
      },
    ],
    usage: answer.usage && writeChatUsage(answer.usage),
    ...restMembers(CHAT, answer.rest),
  });
  return { value, degraded: degraded.list };
}

export const FINISH_REASONS: { readonly [S in StopReason]: string } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  context_full: 'length',
  refusal: 'content_filter',
};

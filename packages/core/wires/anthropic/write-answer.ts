// An answer of the Anthropic wire from our own words.
import type { JsonObject } from '@subluminal/contracts';
import { Degraded } from '../shared/degraded.ts';
import type { Block, ModelAnswer, StopReason } from '../shared/form.ts';
import { objectIn, restMembers, stringIn } from '../shared/read-members.ts';
import type { Written } from '../shared/wire.ts';
import { ANTHROPIC } from './read-blocks.ts';
import { writeAnthropicUsage } from './usage.ts';
import { withCommonMembers, writeBlock } from './write-blocks.ts';

const STOPS: { readonly [S in StopReason]: string } = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  tool_use: 'tool_use',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  pause: 'pause_turn',
  context_full: 'model_context_window_exceeded',
};

export function writeStopReason(stop: StopReason): string {
  return STOPS[stop];
}

export function writeAnthropicAnswer(answer: ModelAnswer): Written<JsonObject> {
  const degraded = new Degraded();
  const rest = restMembers(ANTHROPIC, answer.rest);
  const usage = answer.usage ?? NO_USAGE;
  const members: JsonObject = {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: answer.blocks.flatMap((block) => writeAnswerBlock(block, degraded) ?? []),
    stop_reason: stringIn(rest, 'stop_reason') ?? writeStopReason(answer.stop),
    stop_sequence: answer.stopSequence ?? null,
    usage: writeAnthropicUsage(usage, objectIn(rest, 'usage')),
  };
  return { value: withCommonMembers(answer, members, degraded), degraded: degraded.list };
}

/**
 * Thoughts that no provider signed are shown, with an empty signature. A client sends them back, and then they are
 * left out: `writeAnthropicRequest` writes nothing that is not signed.
 */
export function writeAnswerBlock(block: Block, degraded: Degraded): JsonObject | undefined {
  if (block.type !== 'thinking' || block.seal !== undefined) return writeBlock(block, degraded);
  return withCommonMembers(
    block,
    { type: 'thinking', thinking: block.text, signature: '' },
    degraded,
  );
}

/** Clients need an object with counts, even where nobody counted. */
export const NO_USAGE = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWriteHourTokens: 0,
  isEstimated: true,
};

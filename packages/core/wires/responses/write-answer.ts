// An answer of the Responses wire from our own words.
import type { JsonObject } from '@subluminal/contracts';
import { Degraded, noteForeign } from '../shared/degraded.ts';
import type { Block, ModelAnswer, StopReason, Usage } from '../shared/form.ts';
import { jsonObject, restMembers } from '../shared/read-members.ts';
import type { AnswerOptions, Written } from '../shared/wire.ts';
import { RESPONSES, writePart } from './parts.ts';
import { writeResponsesUsage } from './usage.ts';
import { writeCallItem, writeReasoningItem } from './write-items.ts';

export function writeResponsesAnswer(
  answer: ModelAnswer,
  { createdSec = 0 }: AnswerOptions = {},
): Written<JsonObject> {
  const degraded = new Degraded();
  noteForeign(answer, RESPONSES, degraded);
  const output = answer.blocks.flatMap((block, index) => {
    const item = writeOutputItem(block, { id: itemId(block, answer.id, index), degraded });
    return item === undefined ? [] : [item];
  });
  const hasRefusal = answer.blocks.some(({ type }) => type === 'refusal');
  const { id, model, usage } = answer;
  const value = {
    ...responseObject({ id, model, createdSec, output, usage, ...endOf(answer.stop, hasRefusal) }),
    ...restMembers(RESPONSES, answer.rest),
  };
  return { value, degraded: degraded.list };
}

/** One item of an output that is whole. */
export function writeOutputItem(
  block: Block,
  { id, degraded }: { readonly id: string; readonly degraded: Degraded },
): JsonObject | undefined {
  const status = 'completed';
  switch (block.type) {
    case 'tool_use':
      return { id, status, ...writeCallItem(block, degraded) };
    case 'thinking':
      noteForeign(block, RESPONSES, degraded);
      if (block.seal !== undefined && block.seal.wire !== RESPONSES) {
        degraded.add('signed_thinking');
        if (block.text === '') return undefined;
      }
      return { id, ...writeReasoningItem(block) };
    case 'unknown':
      if (block.wire === RESPONSES) return block.value;
      degraded.add('unknown_blocks');
      return undefined;
    default: {
      const part = writePart(block, { isOutput: true, degraded });
      return part && { id, type: 'message', status, role: 'assistant', content: [part] };
    }
  }
}

const PREFIXES: { readonly [T in Block['type']]?: string } = {
  thinking: 'rs',
  tool_use: 'fc',
};

/** The ids of items begin with their kind, and are the same for a stream and a whole answer. */
export function itemId(block: Block, answerId: string, index: number): string {
  const kind = block.type === 'tool_use' && block.isCustom === true ? 'ctc' : PREFIXES[block.type];
  return `${kind ?? 'msg'}_${answerId.replace(/^resp_/, '')}_${index}`;
}

interface ResponseEnd {
  readonly status: string;
  readonly incomplete_details: JsonObject | null;
}

/** A refusal in words is a whole answer; one without is cut off by a filter. */
export function endOf(stop: StopReason, hasRefusal: boolean): ResponseEnd {
  if (stop === 'max_tokens' || stop === 'context_full') {
    return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  }
  if (stop === 'refusal' && !hasRefusal) {
    return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  }
  return { status: 'completed', incomplete_details: null };
}

export interface ResponseFields extends ResponseEnd {
  readonly id: string;
  readonly model: string;
  readonly createdSec: number;
  readonly output: readonly JsonObject[];
  readonly usage?: Usage | undefined;
  readonly error?: JsonObject;
}

/** The object with all members that clients rely on. What the request asked for is not repeated in it. */
export function responseObject(fields: ResponseFields): JsonObject {
  const { id, model, createdSec, output, usage, status, incomplete_details, error = null } = fields;
  return jsonObject({
    id,
    object: 'response',
    created_at: createdSec,
    status,
    error,
    incomplete_details,
    instructions: null,
    metadata: {},
    model,
    output,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: usage === undefined ? null : writeResponsesUsage(usage),
  });
}

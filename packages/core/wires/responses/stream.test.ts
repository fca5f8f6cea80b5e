import type { JsonObject } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import type { AnswerEvent } from '../shared/form.ts';
import { ResponsesAnswerReader } from './read-stream.ts';
import { readResponsesUsage } from './usage.ts';

function read(events: readonly JsonObject[]): readonly AnswerEvent[] {
  const reader = new ResponsesAnswerReader();
  return events.flatMap((event) => reader.push({ event: 'message', data: JSON.stringify(event) }));
}

const CREATED = { type: 'response.created', response: { id: 'resp_1', model: 'm' } };

it('a call whose pieces come before its item is taken whole from its last event', () => {
  const item = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' };
  const events = read([
    CREATED,
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"at"' },
    { type: 'response.output_item.done', output_index: 0, item },
  ]);
  expect(events.slice(1)).toEqual([
    { type: 'block_start', block: { type: 'tool_use', id: 'c1', name: 'look', input: '' } },
    { type: 'input', text: '{"at":1}' },
    { type: 'block_end' },
  ]);
});

it('counts that no tokens can be count nothing', () => {
  const usage = { input_tokens: 1e300, output_tokens: -4, total_tokens: 7 };
  expect(readResponsesUsage(usage)).toMatchObject({ inputTokens: 0, outputTokens: 0 });
});

// The Anthropic messages wire, as far as Claude Code and the SDK need it for a task with tools.
import {
  type Answer,
  type Body,
  callId,
  eventStream,
  flatName,
  fragments,
  jsonAnswer,
  listOf,
  type SaidTurn,
  type Wire,
} from './script.ts';

const USAGE = { input_tokens: 1, output_tokens: 1 };

function isTask(body: Body): boolean {
  return listOf(body['tools']).length > 0;
}

function prompts(body: Body): readonly string[] {
  return listOf(body['messages'])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => (typeof content === 'string' ? content : textsOf(content)));
}

function results(body: Body): readonly string[] {
  return listOf(body['messages'])
    .flatMap(({ content }) => listOf(content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => (typeof content === 'string' ? content : textsOf(content)));
}

function textsOf(content: unknown): string {
  return listOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('\n');
}

function answer(turn: SaidTurn, body: Body): Answer {
  const blocks = blocksOf(turn, body);
  const stopReason = turn.kind === 'text' ? 'end_turn' : 'tool_use';
  const message = {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: body['model'],
    stop_sequence: null,
    usage: USAGE,
  };
  if (body['stream'] !== true) {
    return jsonAnswer({ ...message, content: blocks, stop_reason: stopReason });
  }
  return eventStream([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: USAGE,
    },
    { type: 'message_stop' },
  ]);
}

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Body };

function blocksOf(turn: SaidTurn, body: Body): readonly Block[] {
  if (turn.kind === 'text') return [{ type: 'text', text: turn.text }];
  const first = results(body).length;
  return turn.calls.map((call, at) => {
    const id = `toolu_${callId(prompts(body), first + at)}`;
    return { type: 'tool_use', id, name: flatName(call), input: call.args };
  });
}

/** A block starts without its content, which comes in deltas. */
function blockEvents(block: Block, index: number) {
  const isText = block.type === 'text';
  const empty = isText ? { ...block, text: '' } : { ...block, input: {} };
  const deltas = isText
    ? fragments(block.text).map((text) => ({ type: 'text_delta', text }))
    : fragments(JSON.stringify(block.input)).map((piece) => {
        return { type: 'input_json_delta', partial_json: piece };
      });
  return [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export const ANTHROPIC: Wire = { isTask, prompts, results, answer };

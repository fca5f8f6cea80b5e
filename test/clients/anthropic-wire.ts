// The Anthropic messages wire, as far as Claude Code needs it for a task with tools.
import { type Answer, type Body, eventStream, listOf, type Turn, type Wire } from './script.ts';

const USAGE = { input_tokens: 1, output_tokens: 1 };

function isTask(body: Body): boolean {
  return listOf(body['tools']).length > 0;
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

function answer(turn: Turn, body: Body): Answer {
  const id = `toolu_${results(body).length}`;
  const block =
    turn.kind === 'text'
      ? { type: 'text', text: turn.text }
      : { type: 'tool_use', id, name: `mcp__${turn.server}__${turn.tool}`, input: turn.args };
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
    const whole = { ...message, content: [block], stop_reason: stopReason };
    return { type: 'application/json', text: JSON.stringify(whole) };
  }
  return eventStream([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: emptied(block) },
    { type: 'content_block_delta', index: 0, delta: deltaOf(turn) },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: USAGE,
    },
    { type: 'message_stop' },
  ]);
}

/** A block starts without its content, which comes in deltas. */
function emptied(block: Body): Body {
  return 'text' in block ? { ...block, text: '' } : { ...block, input: {} };
}

function deltaOf(turn: Turn): Body {
  return turn.kind === 'text'
    ? { type: 'text_delta', text: turn.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(turn.args) };
}

export const ANTHROPIC: Wire = { isTask, results, answer };

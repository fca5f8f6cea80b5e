// The OpenAI Responses wire, as far as Codex needs it for a task with tools.
import { type Answer, type Body, eventStream, listOf, type Turn, type Wire } from './script.ts';

const USAGE = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

function isTask(body: Body): boolean {
  return listOf(body['tools']).length > 0;
}

function results(body: Body): readonly string[] {
  return listOf(body['input'])
    .filter(({ type }) => type === 'function_call_output')
    .map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)));
}

function answer(turn: Turn, body: Body): Answer {
  const response = { id: `resp_${results(body).length}`, object: 'response', output: [] };
  const item = itemOf(turn, body);
  return eventStream([
    { type: 'response.created', sequence_number: 0, response },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
    { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item },
    {
      type: 'response.completed',
      sequence_number: 3,
      response: { ...response, output: [item], usage: USAGE },
    },
  ]);
}

function itemOf(turn: Turn, body: Body): Body {
  const number = results(body).length;
  if (turn.kind === 'text') {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }];
    return { type: 'message', id: `msg_${number}`, role: 'assistant', content };
  }
  return {
    type: 'function_call',
    id: `fc_${number}`,
    call_id: `call_${number}`,
    namespace: `mcp__${turn.server}`,
    name: turn.tool,
    arguments: JSON.stringify(turn.args),
  };
}

export const RESPONSES: Wire = { isTask, results, answer };

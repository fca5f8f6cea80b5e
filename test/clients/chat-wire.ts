// The OpenAI Chat Completions wire, as far as the SDK needs it for a task with tools.
import {
  type Answer,
  type Body,
  flatName,
  fragments,
  isBody,
  jsonAnswer,
  listOf,
  type SaidTurn,
  type Wire,
} from './script.ts';

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const CREATED_SEC = 1_700_000_000;

function isTask(body: Body): boolean {
  return listOf(body['tools']).length > 0;
}

function prompts(body: Body): readonly string[] {
  return listOf(body['messages'])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

function results(body: Body): readonly string[] {
  return listOf(body['messages'])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

function answer(turn: SaidTurn, body: Body): Answer {
  const head = { id: 'chatcmpl_scripted', created: CREATED_SEC, model: body['model'] };
  const toolCalls = toolCallsOf(turn, results(body).length);
  const content = turn.kind === 'text' ? turn.text : null;
  const finish = turn.kind === 'text' ? 'stop' : 'tool_calls';
  if (body['stream'] !== true) {
    const message = {
      role: 'assistant',
      content,
      refusal: null,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }];
    return jsonAnswer({ ...head, object: 'chat.completion', choices, usage: USAGE });
  }
  const chunk = (delta: Body, reason: string | null = null) => {
    return { choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] };
  };
  const options = body['stream_options'];
  const wantsUsage = isBody(options) && options['include_usage'] === true;
  const chunks = [
    chunk({ role: 'assistant', content: content === null ? null : '' }),
    ...fragments(content ?? '').map((piece) => chunk({ content: piece })),
    ...toolCalls.flatMap(callDeltas).map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, finish),
    ...(wantsUsage ? [{ choices: [], usage: USAGE }] : []),
  ];
  const lines = chunks.map((one) => {
    return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...one })}\n\n`;
  });
  return { type: 'text/event-stream', text: `${lines.join('')}data: [DONE]\n\n` };
}

interface ToolCallPart {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

function toolCallsOf(turn: SaidTurn, first: number): readonly ToolCallPart[] {
  if (turn.kind === 'text') return [];
  return turn.calls.map((call, at) => ({
    id: `call_${first + at}`,
    type: 'function',
    function: { name: flatName(call), arguments: JSON.stringify(call.args) },
  }));
}

/** The id and the name come first, then the arguments by pieces. */
function callDeltas(call: ToolCallPart, index: number): readonly Body[] {
  const { name, arguments: whole } = call.function;
  return [
    { index, id: call.id, type: 'function', function: { name, arguments: '' } },
    ...fragments(whole).map((piece) => ({ index, function: { arguments: piece } })),
  ];
}

export const CHAT: Wire = { isTask, prompts, results, answer };

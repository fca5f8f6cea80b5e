// The OpenAI Responses wire, as far as Codex and the SDK need it for a task with tools.
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
  type ToolCall,
  type Wire,
} from './script.ts';

const USAGE = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};
const CREATED_SEC = 1_700_000_000;

/** In code mode, Codex offers its tools in the conversation. */
function isTask(body: Body): boolean {
  const isOffer = ({ type }: Body) => type === 'additional_tools';
  return listOf(body['tools']).length > 0 || listOf(body['input']).some(isOffer);
}

function prompts(body: Body): readonly string[] {
  return listOf(body['input'])
    .filter(({ type, role }) => type === 'message' && role === 'user')
    .map(({ content }) => JSON.stringify(content));
}

function results(body: Body): readonly string[] {
  return listOf(body['input'])
    .filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output')
    .map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)));
}

function answer(turn: SaidTurn, body: Body): Answer {
  const response = {
    id: `resp_${results(body).length}`,
    object: 'response',
    created_at: CREATED_SEC,
    model: body['model'],
    error: null,
    incomplete_details: null,
  };
  const items = itemsOf(turn, body);
  const whole = { ...response, status: 'completed', output: items.map(done), usage: USAGE };
  if (body['stream'] !== true) return jsonAnswer(whole);
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: started },
    ...items.flatMap(itemEvents),
    { type: 'response.completed', response: whole },
  ];
  return eventStream(events.map((event, at) => ({ ...event, sequence_number: at })));
}

type Item =
  | { readonly type: 'message'; readonly id: string; readonly text: string }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly call_id: string;
      readonly namespace?: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'custom_tool_call';
      readonly id: string;
      readonly call_id: string;
      readonly name: string;
      readonly input: string;
    };

function itemsOf(turn: SaidTurn, body: Body): readonly Item[] {
  const first = results(body).length;
  if (turn.kind === 'text') return [{ type: 'message', id: `msg_${first}`, text: turn.text }];
  return turn.calls.map((call, at) => itemOf(call, body, first + at));
}

function itemOf(call: ToolCall, body: Body, at: number): Item {
  const { tool: name, input, args } = call;
  const own = callId(prompts(body), at);
  const ids = { id: `fc_${own}`, call_id: `call_${own}` };
  return input === undefined
    ? { type: 'function_call', ...ids, ...nameOf(call, body), arguments: JSON.stringify(args) }
    : { type: 'custom_tool_call', ...ids, name, input };
}

/** A model calls a tool by the name that it was offered under: in the group of its server, or alone. */
function nameOf(call: ToolCall, body: Body): { namespace?: string; name: string } {
  if (call.group !== undefined) return { namespace: call.group, name: call.tool };
  if (call.server === undefined) return { name: call.tool };
  const namespace = `mcp__${call.server}`;
  // With a search among its tools, a model is offered no group before it has looked for it.
  const isGrouped = listOf(body['tools']).some(
    ({ type, name }) => type === 'tool_search' || (type === 'namespace' && name === namespace),
  );
  return isGrouped ? { namespace, name: call.tool } : { name: flatName(call) };
}

function part(text: string): Body {
  return { type: 'output_text', text, annotations: [] };
}

function done(item: Item): Body {
  if (item.type !== 'message') return { ...item, status: 'completed' };
  const { text, ...rest } = item;
  return { ...rest, role: 'assistant', status: 'completed', content: [part(text)] };
}

function itemEvents(item: Item, index: number): readonly (Body & { readonly type: string })[] {
  const at = { output_index: index, item_id: item.id };
  const added = { type: 'response.output_item.added', output_index: index };
  const ended = { type: 'response.output_item.done', output_index: index, item: done(item) };
  if (item.type === 'function_call') {
    const event = 'response.function_call_arguments';
    return [
      { ...added, item: { ...item, arguments: '', status: 'in_progress' } },
      ...fragments(item.arguments).map((delta) => ({ type: `${event}.delta`, ...at, delta })),
      { type: `${event}.done`, ...at, name: item.name, arguments: item.arguments },
      ended,
    ];
  }
  if (item.type === 'custom_tool_call') {
    const event = 'response.custom_tool_call_input';
    return [
      { ...added, item: { ...item, input: '', status: 'in_progress' } },
      ...fragments(item.input).map((delta) => ({ type: `${event}.delta`, ...at, delta })),
      { type: `${event}.done`, ...at, input: item.input },
      ended,
    ];
  }
  const { id, text } = item;
  const inPart = { ...at, content_index: 0 };
  const empty = { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] };
  return [
    { ...added, item: empty },
    { type: 'response.content_part.added', ...inPart, part: part('') },
    ...fragments(text).map((delta) => {
      return { type: 'response.output_text.delta', ...inPart, delta, logprobs: [] };
    }),
    { type: 'response.output_text.done', ...inPart, text, logprobs: [] },
    { type: 'response.content_part.done', ...inPart, part: part(text) },
    ended,
  ];
}

export const RESPONSES: Wire = { isTask, prompts, results, answer };

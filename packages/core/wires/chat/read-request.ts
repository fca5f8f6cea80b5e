// A request of the chat wire in our own words.
import {
  definedFields,
  type Failure,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@subluminal/contracts';
import type {
  Block,
  Message,
  ModelRequest,
  OutputFormat,
  Tool,
  ToolChoice,
} from '../shared/form.ts';
import {
  booleanIn,
  effortIn,
  isJsonList,
  listIn,
  numberIn,
  objectIn,
  objectsIn,
  Problems,
  restOf,
  stringIn,
} from '../shared/read-members.ts';
import { CHAT, readContent } from './parts.ts';

const FIX = 'Send a request of the chat wire: `model` and `messages`.';
const KNOWN = new Set([
  'model',
  'messages',
  'tools',
  'parallel_tool_calls',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'user',
]);
const MESSAGE = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'reasoning_content',
]);

export function readChatRequest(body: JsonObject): ModelRequest | Failure {
  const problems = new Problems();
  const model = stringIn(body, 'model');
  if (model === undefined) problems.add('model', 'a string');
  const messages = readMessages(body, problems);
  // System messages before all others are what Anthropic calls `system`; one with a name or another role stays.
  const start = messages.findIndex(({ role, rest }) => role !== 'system' || rest !== undefined);
  const leading = messages.slice(0, start === -1 ? messages.length : start);
  const toolChoice = readChoice(body['tool_choice']);
  const output = readFormat(objectIn(body, 'response_format'));
  const effort = effortIn(body, 'reasoning_effort');
  const problem = problems.failure('SUB_WIRE_REQUEST', FIX);
  if (problem !== undefined) return problem;
  return {
    model: model ?? '',
    system: leading.flatMap(({ blocks }) => blocks),
    messages: messages.slice(leading.length),
    tools: (listIn(body, 'tools') ?? []).filter(isJsonObject).map(readTool),
    stopSequences: readStop(body['stop']),
    isStream: body['stream'] === true,
    ...definedFields({
      toolChoice,
      hasParallelTools: booleanIn(body, 'parallel_tool_calls'),
      maxTokens: numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens'),
      temperature: numberIn(body, 'temperature'),
      topP: numberIn(body, 'top_p'),
      reasoning: effort && { effort },
      output,
      user: stringIn(body, 'user') ?? stringIn(body, 'safety_identifier'),
      rest: restOf(
        CHAT,
        body,
        new Set([
          ...KNOWN,
          ...(toolChoice === undefined ? [] : ['tool_choice']),
          ...(output === undefined ? [] : ['response_format']),
          ...(effort === undefined ? [] : ['reasoning_effort']),
        ]),
      ),
    }),
  };
}

function readMessages(body: JsonObject, problems: Problems): readonly Message[] {
  const list = listIn(body, 'messages');
  if (list === undefined) problems.add('messages', 'a list');
  const messages: Message[] = [];
  let results: Block[] = [];
  for (const [index, value] of (list ?? []).entries()) {
    const path = `messages[${index}]`;
    if (!isJsonObject(value)) {
      problems.add(path, 'an object');
      continue;
    }
    const role = stringIn(value, 'role');
    const blocks = readContent(value['content'], { path: `${path}.content`, problems });
    if (role === 'tool') {
      const toolUseId = stringIn(value, 'tool_call_id');
      if (toolUseId === undefined) problems.add(`${path}.tool_call_id`, 'a string');
      const rest = restOf(CHAT, value, MESSAGE);
      // Results that follow each other answer one message of the assistant.
      if (results.length === 0) messages.push({ role: 'user', blocks: results });
      results.push({
        type: 'tool_result',
        toolUseId: toolUseId ?? '',
        blocks,
        isError: false,
        ...definedFields({ rest }),
      });
      continue;
    }
    results = [];
    messages.push(readMessage(value, { role, blocks, path, problems }));
  }
  return messages;
}

function readMessage(
  value: JsonObject,
  read: {
    readonly role: string | undefined;
    readonly blocks: readonly Block[];
    readonly path: string;
    readonly problems: Problems;
  },
): Message {
  const { role, blocks, path, problems } = read;
  const rest = restOf(CHAT, value, MESSAGE);
  switch (role) {
    case 'user':
      return { role, blocks, ...definedFields({ rest }) };
    case 'system':
      return { role, blocks, ...definedFields({ rest }) };
    case 'developer':
      return { role: 'system', blocks, rest: { wire: CHAT, members: { role, ...rest?.members } } };
    case 'assistant':
      return { role, blocks: assistantBlocks(value, blocks), ...definedFields({ rest }) };
    default:
      problems.add(`${path}.role`, 'system, developer, user, assistant or tool');
      return { role: 'user', blocks };
  }
}

/** Thinking comes before the text, tools after it: the wire has no order of its own. */
export function assistantBlocks(message: JsonObject, content: readonly Block[]): readonly Block[] {
  const thinking = stringIn(message, 'reasoning_content') ?? stringIn(message, 'reasoning') ?? '';
  const refusal = stringIn(message, 'refusal') ?? '';
  return [
    ...(thinking === '' ? [] : [{ type: 'thinking', text: thinking } as const]),
    ...content,
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...objectsIn(message, 'tool_calls').map((call) => readToolCall(call)),
  ];
}

const CALL = new Set(['id', 'type', 'function', 'custom', 'index']);

function readToolCall(call: JsonObject): Block {
  const custom = objectIn(call, 'custom');
  const called = custom ?? objectIn(call, 'function') ?? {};
  return {
    type: 'tool_use',
    id: stringIn(call, 'id') ?? '',
    name: stringIn(called, 'name') ?? '',
    input: stringIn(called, custom === undefined ? 'arguments' : 'input') ?? '',
    ...(custom === undefined ? {} : { isCustom: true }),
    ...definedFields({ rest: restOf(CHAT, call, CALL) }),
  };
}

const TOOL = new Set(['type', 'function', 'custom']);

function readTool(tool: JsonObject): Tool {
  const rest = restOf(CHAT, tool, TOOL);
  const called = objectIn(tool, 'function') ?? objectIn(tool, 'custom');
  const name = called && stringIn(called, 'name');
  if (called === undefined || name === undefined) {
    return { kind: 'hosted', wire: CHAT, value: tool };
  }
  const description = stringIn(called, 'description');
  if (stringIn(tool, 'type') === 'custom') {
    const format = readToolFormat(objectIn(called, 'format'));
    return { kind: 'custom', name, ...definedFields({ description, format, rest }) };
  }
  return {
    kind: 'function',
    name,
    schema: objectIn(called, 'parameters') ?? { type: 'object', properties: {} },
    ...definedFields({ description, isStrict: booleanIn(called, 'strict'), rest }),
  };
}

/** A grammar stands one level deeper here than in the form, which has it as the Responses wire does. */
function readToolFormat(format: JsonObject | undefined): JsonObject | undefined {
  const grammar = format && objectIn(format, 'grammar');
  return grammar === undefined ? format : { type: 'grammar', ...grammar };
}

function readChoice(choice: JsonValue | undefined): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none') return { kind: choice };
  if (choice === 'required') return { kind: 'any' };
  if (!isJsonObject(choice)) return undefined;
  const named = objectIn(choice, 'function') ?? objectIn(choice, 'custom');
  const name = named && stringIn(named, 'name');
  return name === undefined ? undefined : { kind: 'tool', name };
}

function readFormat(format: JsonObject | undefined): OutputFormat | undefined {
  if (format === undefined) return undefined;
  if (stringIn(format, 'type') === 'json_object') return { kind: 'json' };
  const schema = objectIn(format, 'json_schema');
  const inner = schema && objectIn(schema, 'schema');
  if (schema === undefined || inner === undefined) return undefined;
  return {
    kind: 'schema',
    schema: inner,
    ...definedFields({ name: stringIn(schema, 'name'), isStrict: booleanIn(schema, 'strict') }),
  };
}

function readStop(stop: JsonValue | undefined): readonly string[] {
  if (typeof stop === 'string') return [stop];
  return isJsonList(stop) ? stop.filter((text) => typeof text === 'string') : [];
}

// The items of an input or an output: messages, calls of tools and what they gave, reasoning.
import { definedFields, type JsonObject } from '@subluminal/contracts';
import type { Block, Message, ThinkingBlock } from '../shared/form.ts';
import { objectsIn, type Problems, restOf, stringIn } from '../shared/read-members.ts';
import { RESPONSES, readParts } from './parts.ts';

const MESSAGE = new Set(['type', 'role', 'content']);
const CALL = new Set(['type', 'call_id', 'name', 'namespace', 'arguments', 'input']);
const OUTPUT = new Set(['type', 'call_id', 'output']);

/** One item as a message of its own. When a request crosses wires, messages of one side in a row become one. */
export function readItem(
  item: JsonObject,
  { path, problems }: { readonly path: string; readonly problems: Problems },
): Message {
  const type = stringIn(item, 'type') ?? (stringIn(item, 'role') === undefined ? '' : 'message');
  switch (type) {
    case 'message':
      return readMessage(item, { path, problems });
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', blocks: [readCall(item, { path, problems })] };
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const toolUseId = stringIn(item, 'call_id');
      if (toolUseId === undefined) problems.add(`${path}.call_id`, 'a string');
      const result: Block = {
        type: 'tool_result',
        toolUseId: toolUseId ?? '',
        blocks: readParts(item['output'], { path: `${path}.output`, problems }),
        isError: false,
        ...(type === 'function_call_output' ? {} : { isCustom: true }),
        ...definedFields({ rest: restOf(RESPONSES, item, OUTPUT) }),
      };
      return { role: 'user', blocks: [result] };
    }
    case 'reasoning':
      return { role: 'assistant', blocks: [readReasoningItem(item)] };
    default: {
      const isGiven = type.endsWith('_output') || type === 'item_reference' || type === '';
      const block: Block = { type: 'unknown', wire: RESPONSES, value: item };
      return { role: isGiven ? 'user' : 'assistant', blocks: [block] };
    }
  }
}

function readMessage(
  item: JsonObject,
  { path, problems }: { readonly path: string; readonly problems: Problems },
): Message {
  const blocks = readParts(item['content'], { path: `${path}.content`, problems });
  const rest = restOf(RESPONSES, item, MESSAGE);
  const role = stringIn(item, 'role');
  switch (role) {
    case 'user':
    case 'assistant':
    case 'system':
      return { role, blocks, ...definedFields({ rest }) };
    case 'developer':
      return {
        role: 'system',
        blocks,
        rest: { wire: RESPONSES, members: { role, ...rest?.members } },
      };
    default:
      problems.add(`${path}.role`, 'user, assistant, system or developer');
      return { role: 'user', blocks };
  }
}

function readCall(
  item: JsonObject,
  { path, problems }: { readonly path: string; readonly problems: Problems },
): Block {
  const isCustom = stringIn(item, 'type') === 'custom_tool_call';
  const id = stringIn(item, 'call_id');
  const name = stringIn(item, 'name');
  if (id === undefined) problems.add(`${path}.call_id`, 'a string');
  if (name === undefined) problems.add(`${path}.name`, 'a string');
  return {
    type: 'tool_use',
    id: id ?? '',
    name: name ?? '',
    input: stringIn(item, isCustom ? 'input' : 'arguments') ?? '',
    ...(isCustom ? { isCustom } : {}),
    ...definedFields({
      namespace: stringIn(item, 'namespace'),
      rest: restOf(RESPONSES, item, CALL),
    }),
  };
}

/** The summary where there is one, else the thoughts themselves. What is sealed stays sealed. */
export function readReasoningItem(item: JsonObject): ThinkingBlock {
  const summary = objectsIn(item, 'summary');
  const content = objectsIn(item, 'content');
  const texts = (summary.length > 0 ? summary : content).map(
    (part) => stringIn(part, 'text') ?? '',
  );
  const encrypted = stringIn(item, 'encrypted_content');
  // More than one part of a summary, and the thoughts beside it, are kept for the wire they came by.
  const isPlain = summary.length <= 1 && content.length === 0;
  const known = new Set(['type', 'encrypted_content', ...(isPlain ? ['summary', 'content'] : [])]);
  return {
    type: 'thinking',
    text: texts.join('\n\n'),
    ...(encrypted === undefined
      ? {}
      : { seal: { kind: 'encrypted', wire: RESPONSES, value: encrypted } as const }),
    ...definedFields({ rest: restOf(RESPONSES, item, known) }),
  };
}

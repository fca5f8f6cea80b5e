// The items of an input or an output from blocks: a message for what is said, an item of its own for all else.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { type Degraded, noteForeign } from '../shared/degraded.ts';
import type { Message, ThinkingBlock, ToolResultBlock, ToolUseBlock } from '../shared/form.ts';
import { jsonObject, restMembers } from '../shared/read-members.ts';
import { RESPONSES, writePart } from './parts.ts';

const PART_TYPES = /^(?:input_|output_text$|text$|refusal$)/;

export function writeMessageItems(message: Message, degraded: Degraded): readonly JsonObject[] {
  const { role, rest } = message;
  noteForeign(message, RESPONSES, degraded);
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  const flush = () => {
    if (content.length > 0) {
      items.push({ type: 'message', role, content, ...restMembers(RESPONSES, rest) });
    }
    content = [];
  };
  for (const block of message.blocks) {
    const item = writeItem(block, degraded);
    if (item === 'part') {
      const part = writePart(block, { isOutput: role === 'assistant', degraded });
      if (part !== undefined) content.push(part);
      continue;
    }
    flush();
    if (item !== undefined) items.push(item);
  }
  flush();
  return items;
}

/** A block that is an item; `part` when it belongs to a message, undefined when it can't be carried. */
function writeItem(
  block: Message['blocks'][number],
  degraded: Degraded,
): JsonObject | 'part' | undefined {
  switch (block.type) {
    case 'tool_use':
      return writeCallItem(block, degraded);
    case 'tool_result':
      return writeOutputItem(block, degraded);
    case 'thinking':
      return writeOwnReasoning(block, degraded);
    case 'unknown': {
      const { type } = block.value;
      const isPart = typeof type === 'string' && PART_TYPES.test(type);
      return block.wire !== RESPONSES || isPart ? 'part' : block.value;
    }
    default:
      return 'part';
  }
}

export function writeCallItem(block: ToolUseBlock, degraded: Degraded): JsonObject {
  noteForeign(block, RESPONSES, degraded);
  const { id: call_id, name, namespace } = block;
  const rest = restMembers(RESPONSES, block.rest);
  if (block.isCustom === true) {
    const type = 'custom_tool_call';
    return jsonObject({ type, call_id, name, namespace, input: block.input, ...rest });
  }
  const input = block.input === '' ? '{}' : block.input;
  return jsonObject({ type: 'function_call', call_id, name, namespace, arguments: input, ...rest });
}

function writeOutputItem(block: ToolResultBlock, degraded: Degraded): JsonObject {
  noteForeign(block, RESPONSES, degraded);
  if (block.isError) degraded.add('tool_error');
  const parts = block.blocks.flatMap((inner) => {
    const part = writePart(inner, { isOutput: false, degraded });
    return part === undefined ? [] : [part];
  });
  const [first] = parts;
  const isText = first?.['type'] === 'input_text' && Object.keys(first).length === 2;
  const text: JsonValue = first?.['text'] ?? '';
  return {
    type: block.isCustom === true ? 'custom_tool_call_output' : 'function_call_output',
    call_id: block.toolUseId,
    output: parts.length === 0 || (parts.length === 1 && isText) ? text : parts,
    ...restMembers(RESPONSES, block.rest),
  };
}

/** In a request, only reasoning that this wire gave out is taken back. */
function writeOwnReasoning(block: ThinkingBlock, degraded: Degraded): JsonObject | undefined {
  noteForeign(block, RESPONSES, degraded);
  if (block.seal === undefined ? block.rest?.wire === RESPONSES : block.seal.wire === RESPONSES) {
    return writeReasoningItem(block);
  }
  degraded.add(block.seal === undefined ? 'extended_thinking' : 'signed_thinking');
  return undefined;
}

export function writeReasoningItem(block: ThinkingBlock): JsonObject {
  const summary = block.text === '' ? [] : [{ type: 'summary_text', text: block.text }];
  const encrypted = block.seal?.wire === RESPONSES ? block.seal.value : undefined;
  return jsonObject({
    type: 'reasoning',
    summary,
    encrypted_content: encrypted,
    ...restMembers(RESPONSES, block.rest),
  });
}

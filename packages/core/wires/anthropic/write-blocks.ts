// The content of messages, of both requests and answers.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { CUSTOM_INPUT } from '../shared/custom-tools.ts';
import type { Degraded } from '../shared/degraded.ts';
import type {
  Block,
  CacheMark,
  MediaSource,
  Rest,
  ThinkingBlock,
  ToolUseBlock,
} from '../shared/form.ts';
import { withRest } from '../shared/member-reader.ts';
import { jsonObject, parseObject, restMembers } from '../shared/read-members.ts';
import { ANTHROPIC } from './read-blocks.ts';

export function writeBlocks(blocks: readonly Block[], degraded: Degraded): readonly JsonObject[] {
  return blocks.flatMap((block) => {
    const value = writeBlock(block, degraded);
    return value === undefined ? [] : [value];
  });
}

/** The block in Anthropic's words; undefined when it has none. */
export function writeBlock(block: Block, degraded: Degraded): JsonObject | undefined {
  switch (block.type) {
    case 'text':
      return withCommonMembers(block, { type: 'text', text: block.text }, degraded);
    case 'refusal':
      degraded.add('refusal');
      return withCommonMembers(block, { type: 'text', text: block.text }, degraded);
    case 'image': {
      if (block.source.kind === 'text') return lost('images', degraded);
      const source = writeSource(block.source);
      if (source === undefined) return lost('files', degraded);
      return withCommonMembers(block, { type: 'image', source }, degraded);
    }
    case 'document': {
      const source = writeSource(block.source);
      if (source === undefined) return lost('files', degraded);
      const { title } = block;
      return withCommonMembers(block, jsonObject({ type: 'document', source, title }), degraded);
    }
    case 'tool_use':
      return writeToolUse(block, degraded);
    case 'tool_result': {
      const content = writeBlocks(block.blocks, degraded);
      const value = jsonObject({
        type: 'tool_result',
        tool_use_id: callId(block.toolUseId),
        content: content.length === 0 ? undefined : content,
        is_error: block.isError ? true : undefined,
      });
      return withCommonMembers(block, value, degraded);
    }
    case 'thinking':
      return writeThinking(block, degraded);
    case 'unknown':
      return block.wire === ANTHROPIC ? block.value : lost('unknown_blocks', degraded);
  }
}

function lost(feature: Parameters<Degraded['add']>[0], degraded: Degraded): undefined {
  degraded.add(feature);
}

function writeSource(source: MediaSource): JsonObject | undefined {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text };
    case 'file':
      return source.wire === ANTHROPIC ? { type: 'file', file_id: source.id } : undefined;
  }
}

function writeToolUse(block: ToolUseBlock, degraded: Degraded): JsonObject {
  if (block.namespace !== undefined) degraded.add('tool_namespaces');
  const value = {
    type: 'tool_use',
    id: callId(block.id),
    name: block.name,
    input: writeInput(block, degraded),
  };
  return withCommonMembers(block, value, degraded);
}

/** The arguments are an object; a text that is none becomes the only member of one. */
function writeInput({ input, isCustom }: ToolUseBlock, degraded: Degraded): JsonObject {
  if (isCustom === true) degraded.add('custom_tools');
  else if (input.trim() === '') return {};
  return (isCustom === true ? undefined : parseObject(input)) ?? { [CUSTOM_INPUT]: input };
}

/** Other wires have ids with characters that are refused here; the id of the result changes alike. */
function callId(id: string): string {
  return id.replaceAll(/[^\w-]/g, '_');
}

/** Thinking goes back to the provider that sealed it, and to no other. */
function writeThinking(block: ThinkingBlock, degraded: Degraded): JsonObject | undefined {
  const { seal, text } = block;
  if (seal === undefined) return lost('extended_thinking', degraded);
  if (seal.wire !== ANTHROPIC) return lost('signed_thinking', degraded);
  return withCommonMembers(
    block,
    seal.kind === 'signature'
      ? { type: 'thinking', thinking: text, signature: seal.value }
      : { type: 'redacted_thinking', data: seal.value },
    degraded,
  );
}

/** The members with the mark of a cache and with what was left when they were read. */
export function withCommonMembers(
  { cache, rest }: { readonly cache?: CacheMark; readonly rest?: Rest },
  members: JsonObject,
  degraded: Degraded,
): JsonObject {
  if (rest !== undefined && rest.wire !== ANTHROPIC) degraded.add('unknown_fields');
  const marked: JsonObject =
    cache === undefined ? members : { ...members, cache_control: writeMark(cache) };
  return withRest(marked, restMembers(ANTHROPIC, rest));
}

function writeMark({ ttl }: CacheMark): JsonValue {
  return ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl };
}

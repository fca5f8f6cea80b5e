// A request of the chat wire from our own words.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { Degraded, noteForeign } from '../shared/degraded.ts';
import type {
  Block,
  Message,
  ModelRequest,
  OutputFormat,
  Tool,
  ToolResultBlock,
  ToolUseBlock,
} from '../shared/form.ts';
import { openAiEffort } from '../shared/openai-effort.ts';
import { isJsonList, jsonObject, objectIn, restMembers } from '../shared/read-members.ts';
import type { Written } from '../shared/wire.ts';
import { CHAT, writeContent } from './parts.ts';

export function writeChatRequest(request: ModelRequest): Written<JsonObject> {
  const degraded = new Degraded();
  const rest = restMembers(CHAT, request.rest);
  noteForeign(request, CHAT, degraded);
  if (request.topK !== undefined) degraded.add('top_k');
  const tools = request.tools.flatMap((tool) => writeTool(tool, degraded));
  const value = jsonObject({
    model: request.model,
    messages: [
      ...request.system.map((block) => ({
        role: 'system',
        content: writeContent([block], degraded),
      })),
      ...request.messages.flatMap((message) => writeMessage(message, degraded)),
    ],
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeChoice(request),
    parallel_tool_calls: request.hasParallelTools,
    max_completion_tokens: Object.hasOwn(rest, 'max_tokens') ? undefined : request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stop: request.stopSequences.length === 0 ? undefined : request.stopSequences,
    stream: request.isStream ? true : undefined,
    reasoning_effort: openAiEffort(request.reasoning, degraded),
    response_format: request.output && writeFormat(request.output),
    user: Object.hasOwn(rest, 'safety_identifier') ? undefined : request.user,
    ...rest,
    // Without it a stream says nothing about its cost.
    stream_options: request.isStream
      ? { ...objectIn(rest, 'stream_options'), include_usage: true }
      : rest['stream_options'],
  });
  return { value, degraded: degraded.list };
}

function writeMessage(message: Message, degraded: Degraded): readonly JsonObject[] {
  const rest = restMembers(CHAT, message.rest);
  noteForeign(message, CHAT, degraded);
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: writeContent(message.blocks, degraded), ...rest }];
    case 'assistant':
      return writeAssistant(message.blocks, { rest, degraded });
    case 'user':
      return writeUser(message.blocks, { rest, degraded });
  }
}

interface MessageWriting {
  readonly rest: JsonObject;
  readonly degraded: Degraded;
}

/** Results of tools are messages of their own, right after the calls; the words of the user follow. */
function writeUser(
  blocks: readonly Block[],
  { rest, degraded }: MessageWriting,
): readonly JsonObject[] {
  const results = blocks.filter((block) => block.type === 'tool_result');
  const others = blocks.filter((block) => block.type !== 'tool_result');
  const media = results.flatMap((result) => mediaOf(result));
  const content = writeContent([...media, ...others], degraded);
  const isEmpty = (isJsonList(content) && content.length === 0) || content === '';
  return [
    ...results.map((result) => writeResult(result, degraded)),
    ...(isEmpty && results.length > 0 ? [] : [{ role: 'user', content, ...rest }]),
  ];
}

/** A result takes text only. Images and documents in it come in the message of the user that follows. */
function mediaOf(result: ToolResultBlock): readonly Block[] {
  const media = result.blocks.filter(({ type }) => type === 'image' || type === 'document');
  if (media.length === 0) return [];
  return [{ type: 'text', text: `From the result of ${result.toolUseId}:` }, ...media];
}

function writeResult(result: ToolResultBlock, degraded: Degraded): JsonObject {
  noteForeign(result, CHAT, degraded);
  if (result.isError) degraded.add('tool_error');
  const blocks = result.blocks.filter(({ type }) => type !== 'image' && type !== 'document');
  const content = writeContent(blocks, degraded);
  return {
    role: 'tool',
    tool_call_id: result.toolUseId,
    content: isJsonList(content) && content.length === 0 ? '' : content,
    ...restMembers(CHAT, result.rest),
  };
}

function writeAssistant(
  blocks: readonly Block[],
  { rest, degraded }: MessageWriting,
): readonly JsonObject[] {
  const message = assistantMessage(blocks, degraded);
  const isEmpty = message['content'] === null && message['tool_calls'] === undefined;
  // A message of which nothing could be carried says nothing.
  if (isEmpty && message['refusal'] === undefined && blocks.length > 0) return [];
  return [{ ...message, ...rest }];
}

/** The message of the assistant, in a request and in an answer. */
export function assistantMessage(blocks: readonly Block[], degraded: Degraded): JsonObject {
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const thinking = blocks.flatMap((block) => thinkingText(block, degraded)).join('\n\n');
  const refusal = blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []));
  const said = blocks.filter(
    ({ type }) => type !== 'tool_use' && type !== 'thinking' && type !== 'refusal',
  );
  const content = writeContent(said, degraded);
  return jsonObject({
    role: 'assistant',
    content: isJsonList(content) && content.length === 0 ? null : content,
    reasoning_content: thinking === '' ? undefined : thinking,
    refusal: refusal.length === 0 ? undefined : refusal.join(''),
    tool_calls: calls.length === 0 ? undefined : calls.map((call) => writeToolCall(call, degraded)),
  });
}

function thinkingText(block: Block, degraded: Degraded): readonly string[] {
  if (block.type !== 'thinking') return [];
  noteForeign(block, CHAT, degraded);
  if (block.seal === undefined) return block.text === '' ? [] : [block.text];
  degraded.add('signed_thinking');
  return [];
}

function writeToolCall(call: ToolUseBlock, degraded: Degraded): JsonObject {
  noteForeign(call, CHAT, degraded);
  if (call.namespace !== undefined) degraded.add('tool_namespaces');
  const rest = restMembers(CHAT, call.rest);
  if (call.isCustom === true) {
    return { id: call.id, type: 'custom', custom: { name: call.name, input: call.input }, ...rest };
  }
  const written = { name: call.name, arguments: call.input === '' ? '{}' : call.input };
  return { id: call.id, type: 'function', function: written, ...rest };
}

function writeTool(tool: Tool, degraded: Degraded): readonly JsonObject[] {
  if (tool.kind === 'hosted') {
    if (tool.wire === CHAT) return [tool.value];
    degraded.add('hosted_tools');
    return [];
  }
  noteForeign(tool, CHAT, degraded);
  if (tool.namespace !== undefined) degraded.add('tool_namespaces');
  const rest = restMembers(CHAT, tool.rest);
  const { name, description } = tool;
  if (tool.kind === 'custom') {
    const format = writeToolFormat(tool.format);
    return [{ type: 'custom', custom: jsonObject({ name, description, format }), ...rest }];
  }
  const written = jsonObject({
    name,
    description,
    parameters: tool.schema,
    strict: tool.isStrict,
  });
  return [{ type: 'function', function: written, ...rest }];
}

function writeToolFormat(format: JsonValue | undefined): JsonValue | undefined {
  if (typeof format !== 'object' || format === null || isJsonList(format)) return format;
  const { type, ...grammar } = format;
  return type === 'grammar' ? { type, grammar } : format;
}

function writeChoice({ toolChoice, tools }: ModelRequest): JsonValue | undefined {
  if (toolChoice === undefined) return undefined;
  switch (toolChoice.kind) {
    case 'any':
      return 'required';
    case 'tool': {
      const { name } = toolChoice;
      const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
      return isCustom
        ? { type: 'custom', custom: { name } }
        : { type: 'function', function: { name } };
    }
    default:
      return toolChoice.kind;
  }
}

function writeFormat(output: OutputFormat): JsonObject {
  if (output.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', schema, isStrict: strict } = output;
  return { type: 'json_schema', json_schema: jsonObject({ name, schema, strict }) };
}

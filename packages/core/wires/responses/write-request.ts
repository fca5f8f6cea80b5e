// A request of the Responses wire from our own words.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { Degraded, noteForeign } from '../shared/degraded.ts';
import type { Block, ModelRequest, OutputFormat, Reasoning, Tool } from '../shared/form.ts';
import { openAiEffort } from '../shared/openai-effort.ts';
import { jsonObject, objectIn, restMembers } from '../shared/read-members.ts';
import type { Written } from '../shared/wire.ts';
import { RESPONSES } from './parts.ts';
import { writeMessageItems } from './write-items.ts';

export function writeResponsesRequest(request: ModelRequest): Written<JsonObject> {
  const degraded = new Degraded();
  const rest = restMembers(RESPONSES, request.rest);
  noteForeign(request, RESPONSES, degraded);
  if (request.topK !== undefined) degraded.add('top_k');
  if (request.stopSequences.length > 0) degraded.add('stop_sequences');
  const tools = writeTools(request.tools, degraded);
  const format = request.output && writeFormat(request.output);
  const value = jsonObject({
    model: request.model,
    instructions: writeInstructions(request.system, degraded),
    input: request.messages.flatMap((message) => writeMessageItems(message, degraded)),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeChoice(request),
    parallel_tool_calls: request.hasParallelTools,
    max_output_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    stream: request.isStream ? true : undefined,
    user: Object.hasOwn(rest, 'safety_identifier') ? undefined : request.user,
    ...rest,
    text: format === undefined ? rest['text'] : { ...objectIn(rest, 'text'), format },
    reasoning: writeReasoning(request.reasoning, { rest, degraded }),
  });
  return { value, degraded: degraded.list };
}

/** One text: the wire has no blocks here. */
function writeInstructions(system: readonly Block[], degraded: Degraded): string | undefined {
  const texts = system.flatMap((block) => {
    if (block.type !== 'text') {
      degraded.add('unknown_blocks');
      return [];
    }
    if (block.cache !== undefined) degraded.add('cache_control');
    if (block.rest !== undefined) degraded.add('unknown_fields');
    return [block.text];
  });
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** Tools of one namespace that follow each other are one group. */
function writeTools(tools: readonly Tool[], degraded: Degraded): readonly JsonObject[] {
  const written: JsonObject[] = [];
  let group: { readonly name: string; readonly tools: JsonObject[] } | undefined;
  for (const tool of tools) {
    const value = writeTool(tool, degraded);
    if (value === undefined) continue;
    const namespace = tool.kind === 'hosted' ? undefined : tool.namespace;
    if (tool.kind === 'hosted' || namespace === undefined) {
      group = undefined;
      written.push(value);
    } else if (group?.name === namespace) {
      group.tools.push(value);
    } else {
      group = { name: namespace, tools: [value] };
      const description = tool.namespaceDescription ?? '';
      written.push({ type: 'namespace', name: namespace, description, tools: group.tools });
    }
  }
  return written;
}

function writeTool(tool: Tool, degraded: Degraded): JsonObject | undefined {
  if (tool.kind === 'hosted') {
    if (tool.wire === RESPONSES) return tool.value;
    degraded.add('hosted_tools');
    return undefined;
  }
  noteForeign(tool, RESPONSES, degraded);
  const rest = restMembers(RESPONSES, tool.rest);
  const { name, description } = tool;
  if (tool.kind === 'custom') {
    return jsonObject({ type: 'custom', name, description, format: tool.format, ...rest });
  }
  const { schema: parameters, isStrict: strict } = tool;
  return jsonObject({ type: 'function', name, description, parameters, strict, ...rest });
}

function writeChoice({ toolChoice, tools }: ModelRequest): JsonValue | undefined {
  if (toolChoice === undefined) return undefined;
  if (toolChoice.kind === 'any') return 'required';
  if (toolChoice.kind !== 'tool') return toolChoice.kind;
  const { name } = toolChoice;
  const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
  return { type: isCustom ? 'custom' : 'function', name };
}

function writeFormat(output: OutputFormat): JsonObject {
  if (output.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', schema, isStrict: strict } = output;
  return jsonObject({ type: 'json_schema', name, schema, strict });
}

function writeReasoning(
  reasoning: Reasoning | undefined,
  { rest, degraded }: { readonly rest: JsonObject; readonly degraded: Degraded },
): JsonValue | undefined {
  const others = objectIn(rest, 'reasoning') ?? {};
  const effort = openAiEffort(reasoning, degraded);
  const value = jsonObject({ effort, summary: reasoning?.summary, ...others });
  return Object.keys(value).length === 0 ? undefined : value;
}

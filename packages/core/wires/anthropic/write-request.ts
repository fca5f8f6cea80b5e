// A request of the Anthropic wire from our own words.
import type { JsonObject } from '@subluminal/contracts';
import { asFunctionTool } from '../shared/custom-tools.ts';
import { Degraded } from '../shared/degraded.ts';
import type {
  Effort,
  Message,
  ModelRequest,
  OutputFormat,
  Reasoning,
  Tool,
} from '../shared/form.ts';
import { jsonObject } from '../shared/read-members.ts';
import type { Written } from '../shared/wire.ts';
import { ANTHROPIC } from './read-blocks.ts';
import { withCommonMembers, writeBlocks } from './write-blocks.ts';

/** Other wires go up to 2. */
const TEMPERATURE_MAX = 1;

export function writeAnthropicRequest(request: ModelRequest): Written<JsonObject> {
  const degraded = new Degraded();
  const { reasoning, output, stopSequences, temperature } = request;
  const system = writeBlocks(request.system, degraded);
  const tools = request.tools.flatMap((tool) => writeTool(tool, degraded));
  const config = {
    ...writeEffort(reasoning?.effort, degraded),
    ...writeFormat(output, degraded),
  };
  const members = jsonObject({
    model: request.model,
    max_tokens: request.maxTokens,
    system: system.length === 0 ? undefined : system,
    messages: request.messages.flatMap((message) => writeMessage(message, degraded)),
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: writeChoice(request, tools.length > 0),
    stop_sequences: stopSequences.length === 0 ? undefined : stopSequences,
    stream: request.isStream ? true : undefined,
    temperature: temperature === undefined ? undefined : Math.min(temperature, TEMPERATURE_MAX),
    top_p: request.topP,
    top_k: request.topK,
    thinking: writeThinkingMode(reasoning),
    output_config: Object.keys(config).length === 0 ? undefined : config,
    metadata: request.user === undefined ? undefined : { user_id: request.user },
  });
  return { value: withCommonMembers(request, members, degraded), degraded: degraded.list };
}

/** A message of which nothing could be carried says nothing, and an empty one is refused. */
function writeMessage(message: Message, degraded: Degraded): readonly JsonObject[] {
  const content = writeBlocks(message.blocks, degraded);
  if (content.length === 0 && message.blocks.length > 0) return [];
  return [withCommonMembers(message, { role: message.role, content }, degraded)];
}

function writeTool(tool: Tool, degraded: Degraded): readonly JsonObject[] {
  if (tool.kind === 'hosted') {
    if (tool.wire === ANTHROPIC) return [tool.value];
    degraded.add('hosted_tools');
    return [];
  }
  if (tool.namespace !== undefined) degraded.add('tool_namespaces');
  if (tool.kind === 'custom') degraded.add('custom_tools');
  const { name, description, schema, isStrict } =
    tool.kind === 'custom' ? asFunctionTool(tool) : tool;
  const members = jsonObject({
    name,
    description,
    input_schema: { type: 'object', ...schema },
    strict: isStrict === true ? true : undefined,
  });
  return [withCommonMembers(tool, members, degraded)];
}

/** Whether tools may be called in parallel is said with the choice, which only a request with tools has. */
function writeChoice(
  { toolChoice, hasParallelTools }: ModelRequest,
  hasTools: boolean,
): JsonObject | undefined {
  if (toolChoice === undefined) {
    if (hasParallelTools !== false || !hasTools) return undefined;
    return { type: 'auto', disable_parallel_tool_use: true };
  }
  return jsonObject({
    type: toolChoice.kind,
    name: toolChoice.kind === 'tool' ? toolChoice.name : undefined,
    disable_parallel_tool_use:
      hasParallelTools === undefined || toolChoice.kind === 'none' ? undefined : !hasParallelTools,
  });
}

function writeThinkingMode(reasoning: Reasoning | undefined): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  const display = reasoning.summary;
  switch (reasoning.mode) {
    case 'off':
      return { type: 'disabled' };
    case 'adaptive':
      return jsonObject({ type: 'adaptive', display });
    case 'budget':
      return jsonObject({ type: 'enabled', budget_tokens: reasoning.budgetTokens, display });
    default:
      return reasoning.effort === 'none' ? { type: 'disabled' } : undefined;
  }
}

/** The lowest effort here is `low`; none at all is thinking that is disabled. */
function writeEffort(effort: Effort | undefined, degraded: Degraded): JsonObject {
  if (effort === undefined || effort === 'none') return {};
  if (effort !== 'minimal') return { effort };
  degraded.add('reasoning_effort');
  return { effort: 'low' };
}

function writeFormat(output: OutputFormat | undefined, degraded: Degraded): JsonObject {
  if (output === undefined) return {};
  if (output.kind === 'schema') return { format: { type: 'json_schema', schema: output.schema } };
  degraded.add('output_format');
  return {};
}

// Makes a request of one wire ready for another: what only its own wire knows is taken out and named, and what the
// wires do differently is put in order.
import { type Failure, type JsonValue, tableFailure } from '@subluminal/contracts';
import { asFunctionInput, asFunctionTool } from './shared/custom-tools.ts';
import type { Degraded } from './shared/degraded.ts';
import type {
  Block,
  Message,
  ModelRequest,
  Rest,
  TextBlock,
  Tool,
  WireName,
} from './shared/form.ts';
import { isJsonList } from './shared/read-members.ts';
import { isNamed, type ToolNames } from './tool-names.ts';

/** What Anthropic requires and the others don't. */
const MAX_TOKENS_DEFAULT = 32_000;
/** The least that the Responses wire takes. */
const MAX_TOKENS_MIN = 16;

/** Members without which a request means something else, and why no other wire has them. */
const NEEDED: { readonly [name: string]: string } = {
  previous_response_id: 'only the provider that keeps the earlier response knows what it holds',
  conversation: 'only the provider that keeps the conversation knows what it holds',
  prompt: 'only the provider that keeps the prompt knows it',
  background: 'no other wire works in the background',
  n: 'no other wire gives more than one answer',
  functions: '`tools` have taken their place',
  function_call: '`tool_choice` has taken its place',
};

/** Members that steer the provider and not the answer, or that the form has in another place. */
const HARMLESS = new Set([
  'store',
  'include',
  'metadata',
  'client_metadata',
  'service_tier',
  'stream_options',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'prompt_cache_breakpoint',
  'safety_identifier',
  'max_tokens',
  'response_format',
  'truncation',
  'n',
  // Of items and messages.
  'id',
  'role',
  'status',
  'phase',
  'summary',
]);

export function cannotCross(request: ModelRequest): Failure | undefined {
  const members = request.rest?.members ?? {};
  const name = Object.keys(NEEDED).find((needed) => {
    const value = members[needed];
    return saysSomething(value) && !(needed === 'n' && value === 1);
  });
  if (name === undefined) return undefined;
  return tableFailure('SUB_WIRE_TRANSLATE', `It has \`${name}\`: ${NEEDED[name]}.`);
}

export function crossRequest(
  request: ModelRequest,
  target: Omit<Crossing, 'customCalls'>,
): ModelRequest {
  const { wire, names, degraded } = target;
  const to = { ...target, customCalls: customCalls(request) };
  const {
    rest,
    toolChoice,
    hasParallelTools,
    topP,
    maxTokens,
    reasoning: _,
    user: __,
    ...others
  } = request;
  noteRest(rest, degraded);
  const tools = request.tools.map((tool) => crossTool(tool, to));
  const hasTools = tools.some((tool) => isNamed(tool) || tool.wire === wire);
  const messages = request.messages.map((message) => {
    noteRest(message.rest, degraded);
    const blocks = message.blocks.map((block) => crossBlock(block, to));
    return { role: message.role, blocks };
  });
  const start = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.splice(0, start === -1 ? messages.length : start);
  const system = [
    ...request.system.map((block) => crossBlock(block, to)),
    ...leading.flatMap(({ blocks }) => blocks),
  ];
  // Claude takes the one or the other.
  const isTopPLost = wire === 'anthropic_messages' && request.temperature !== undefined;
  if (isTopPLost && topP !== undefined) degraded.add('unknown_fields');
  const limit = maxTokensFor(wire, maxTokens);
  return {
    ...others,
    system: wire === 'openai_chat_completions' ? oneText(system, degraded) : system,
    messages: mergeMessages(messages),
    tools,
    ...crossReasoning(request),
    ...crossUser(request, wire),
    // Without tools, a word about them is refused.
    ...(hasTools && toolChoice !== undefined
      ? {
          toolChoice:
            toolChoice.kind === 'tool'
              ? { kind: 'tool', name: chosenName(toolChoice.name, request.tools, names) }
              : toolChoice,
        }
      : {}),
    ...(hasTools && hasParallelTools !== undefined ? { hasParallelTools } : {}),
    ...(topP === undefined || isTopPLost ? {} : { topP }),
    ...(limit === undefined ? {} : { maxTokens: limit }),
    // Nobody asked the provider to keep the conversation.
    ...(wire === 'openai_responses' ? { rest: { wire, members: { store: false } } } : {}),
  };
}

function maxTokensFor(wire: WireName, maxTokens: number | undefined): number | undefined {
  if (wire === 'anthropic_messages') return maxTokens ?? MAX_TOKENS_DEFAULT;
  if (wire === 'openai_responses' && maxTokens !== undefined) {
    return Math.max(MAX_TOKENS_MIN, maxTokens);
  }
  return maxTokens;
}

interface Crossing {
  readonly wire: WireName;
  readonly names: ToolNames;
  readonly degraded: Degraded;
  /** The calls of custom tools: only they tell which results are theirs. */
  readonly customCalls: ReadonlySet<string>;
}

function customCalls({ messages }: ModelRequest): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => message.blocks);
  return new Set(
    blocks.flatMap((block) =>
      block.type === 'tool_use' && block.isCustom === true ? [block.id] : [],
    ),
  );
}

/** How much of the thinking is shown has other words on each wire. */
function crossReasoning({ reasoning }: ModelRequest): Pick<ModelRequest, 'reasoning'> {
  if (reasoning === undefined) return {};
  const { summary: _, ...others } = reasoning;
  return { reasoning: others };
}

/** OpenAI refuses longer names of users. */
const USER_LENGTH_MAX = 64;

function crossUser({ user }: ModelRequest, wire: WireName): Pick<ModelRequest, 'user'> {
  if (user === undefined) return {};
  return wire === 'anthropic_messages' || user.length <= USER_LENGTH_MAX ? { user } : {};
}

function crossTool(tool: Tool, { wire, names, degraded }: Crossing): Tool {
  if (!isNamed(tool)) return tool;
  noteRest(tool.rest, degraded);
  const name = names.give({ ...tool, isCustom: tool.kind === 'custom' });
  const { rest: _, ...plain } = tool;
  if (names.isRich) {
    return plain.kind === 'custom'
      ? { ...plain, name }
      : // A schema is strict here unless it says that it isn't.
        { ...plain, name, isStrict: plain.isStrict ?? false };
  }
  if (tool.namespace !== undefined) degraded.add('tool_namespaces');
  if (plain.kind === 'custom' && wire !== 'openai_responses') degraded.add('custom_tools');
  const {
    namespace: __,
    namespaceDescription: ___,
    ...lowered
  } = plain.kind === 'custom' ? asFunctionTool(plain) : plain;
  return { ...lowered, name };
}

function chosenName(name: string, tools: readonly Tool[], names: ToolNames): string {
  const tool = tools.filter(isNamed).find((candidate) => candidate.name === name);
  return names.give(tool === undefined ? { name } : { ...tool, isCustom: tool.kind === 'custom' });
}

function crossBlock(block: Block, to: Crossing): Block {
  if (block.type === 'unknown') return block;
  noteRest(block.rest, to.degraded);
  const { rest: _, ...plain } = block;
  switch (plain.type) {
    case 'tool_use': {
      const name = to.names.give(plain);
      const id = to.names.callId(plain.id);
      if (to.names.isRich) return { ...plain, name, id };
      const { namespace: __, isCustom, ...lowered } = plain;
      const input = isCustom === true ? asFunctionInput(plain.input) : plain.input;
      return { ...lowered, name, id, input };
    }
    case 'tool_result': {
      const { isCustom: __, ...result } = plain;
      const isCustom = to.customCalls.has(plain.toolUseId);
      return {
        ...result,
        toolUseId: to.names.callId(plain.toolUseId),
        blocks: plain.blocks.map((inner) => crossBlock(inner, to)),
        ...(isCustom && to.names.isRich ? { isCustom } : {}),
      };
    }
    case 'thinking': {
      // An empty seal is none: a wire that has no seals wrote it for one that wants them.
      const { seal, ...thinking } = plain;
      return seal === undefined || seal.value === '' ? thinking : plain;
    }
    default:
      return plain;
  }
}

export function noteRest(rest: Rest | undefined, degraded: Degraded): void {
  const isLost = Object.entries(rest?.members ?? {}).some(
    ([name, value]) => !HARMLESS.has(name) && saysSomething(value),
  );
  if (isLost) degraded.add('unknown_fields');
}

function saysSomething(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (isJsonList(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Many models take one system message, and only at the start. */
function oneText(blocks: readonly Block[], degraded: Degraded): readonly Block[] {
  const texts = blocks.filter((block): block is TextBlock => block.type === 'text');
  if (texts.some(({ cache }) => cache !== undefined)) degraded.add('cache_control');
  if (texts.length < blocks.length) degraded.add('unknown_blocks');
  if (texts.length === 0) return [];
  return [{ type: 'text', text: texts.map(({ text }) => text).join('\n\n') }];
}

/** Messages of one side that follow each other are one: calls in parallel, and their results, stand together. */
export function mergeMessages(messages: readonly Message[]): readonly Message[] {
  const merged: { role: Message['role']; blocks: Block[] }[] = [];
  for (const { role, blocks } of messages) {
    const last = merged.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else merged.push({ role, blocks: [...blocks] });
  }
  return merged.map(({ role, blocks }) => ({
    role,
    blocks: role === 'user' ? resultsFirst(blocks) : blocks,
  }));
}

/** Results must come right after the calls. */
function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length === 0) return blocks;
  return [...results, ...blocks.filter(({ type }) => type !== 'tool_result')];
}

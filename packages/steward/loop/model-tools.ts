// Tools of servers as a model sees them: `SERVER__TOOL`, with a place to say why.
import { isObject, type JsonObject } from '@subluminal/contracts';
import type { AgentTool } from '@subluminal/plane/agent-run';
import type { ModelTool, ModelUse } from '../models/types.ts';

/** OpenAI takes no longer names and no more tools; others take more. */
const NAME_LENGTH_MAX = 64;
const TOOLS_MAX = 128;
const DESCRIPTION_LENGTH_MAX = 4_000;
const REASONING_LENGTH_MAX = 2_000;
const ARGS_LENGTH_MAX = 200_000;
const REASONING = {
  type: 'string',
  description: 'Why this call serves what the user asked for, in one or two sentences.',
};

export interface OfferedTools {
  readonly definitions: readonly ModelTool[];
  /** How many tools did not fit. */
  readonly leftOut: number;
  read(use: ModelUse): ReadUse;
}

export type ReadUse =
  | {
      readonly kind: 'proposal';
      readonly tool: AgentTool;
      readonly args: JsonObject;
      readonly reasoning: string;
    }
  | { readonly kind: 'malformed'; readonly why: string };

interface Offer {
  readonly tool: AgentTool;
  /** The parameter that holds the reasoning. */
  readonly reasonKey: string;
}

export function offerTools(tools: readonly AgentTool[]): OfferedTools {
  const offers = new Map<string, Offer>();
  const definitions: ModelTool[] = [];
  for (const tool of tools.slice(0, TOOLS_MAX)) {
    const name = freeName(`${tool.server}__${tool.name}`, offers);
    const properties = isObject(tool.inputSchema['properties'])
      ? tool.inputSchema['properties']
      : {};
    const reasonKey = Object.hasOwn(properties, 'reasoning') ? 'why_this_call' : 'reasoning';
    offers.set(name, { tool, reasonKey });
    definitions.push(definition(name, tool, reasonKey));
  }
  return {
    definitions,
    leftOut: tools.length - definitions.length,
    read: (use) => readUse(offers, use),
  };
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  const name = wanted.replace(/[^\w-]/g, '_').slice(0, NAME_LENGTH_MAX);
  for (let n = 2; ; n++) {
    const tried = n === 2 ? name : `${name.slice(0, NAME_LENGTH_MAX - 4)}_${n - 1}`;
    if (!taken.has(tried)) return tried;
  }
}

function definition(
  name: string,
  { description, inputSchema }: AgentTool,
  reasonKey: string,
): ModelTool {
  const { properties, required } = inputSchema;
  return {
    name,
    description: description.slice(0, DESCRIPTION_LENGTH_MAX),
    inputSchema: {
      ...inputSchema,
      type: 'object',
      properties: { ...(isObject(properties) ? properties : {}), [reasonKey]: REASONING },
      required: [...namesIn(required), reasonKey],
    },
  };
}

function namesIn(required: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return names.filter((name) => typeof name === 'string');
}

function readUse(offers: ReadonlyMap<string, Offer>, { name, args }: ModelUse): ReadUse {
  const offer = offers.get(name);
  if (offer === undefined) {
    return { kind: 'malformed', why: 'There is no such tool. Use one of those that are offered.' };
  }
  if (JSON.stringify(args).length > ARGS_LENGTH_MAX) {
    return { kind: 'malformed', why: 'The arguments are too long.' };
  }
  const { [offer.reasonKey]: reasoning, ...rest } = args;
  return {
    kind: 'proposal',
    tool: offer.tool,
    args: rest,
    reasoning: typeof reasoning === 'string' ? reasoning.slice(0, REASONING_LENGTH_MAX) : '',
  };
}

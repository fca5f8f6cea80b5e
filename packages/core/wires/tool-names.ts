// The names of tools on a wire that takes other names than the client's, and the way back.
import type { CustomTool, FunctionTool, Tool, ToolUseBlock, WireName } from './shared/form.ts';

interface ToolTraits {
  readonly forbidden: RegExp;
  readonly lengthMax: number;
  /** Has groups of tools, and tools that take free text. */
  readonly isRich: boolean;
  /** Ids of calls may be this long. */
  readonly idLengthMax: number;
}

const TRAITS: { readonly [W in WireName]: ToolTraits } = {
  anthropic_messages: {
    forbidden: /[^\w-]/g,
    lengthMax: 128,
    isRich: false,
    idLengthMax: 256,
  },
  // OpenAI itself takes custom tools here, but the servers that speak this wire instead of Responses do not.
  openai_chat_completions: { forbidden: /[^\w-]/g, lengthMax: 64, isRich: false, idLengthMax: 40 },
  openai_responses: { forbidden: /[^\w-]/g, lengthMax: 64, isRich: true, idLengthMax: 64 },
};

type NamedTool = Pick<ToolUseBlock, 'name' | 'namespace' | 'isCustom'>;

export class ToolNames {
  readonly #traits: ToolTraits;
  readonly #written = new Map<string, string>();
  readonly #tools = new Map<string, NamedTool>();

  constructor(to: WireName) {
    this.#traits = TRAITS[to];
  }

  get isRich(): boolean {
    return this.#traits.isRich;
  }

  /** The name on the wire. It depends on nothing but the tool, so that it stays the same from turn to turn. */
  give(tool: NamedTool): string {
    const key = keyOf(tool.namespace, tool.name);
    const known = this.#written.get(key);
    if (known !== undefined) return known;
    const { isRich } = this.#traits;
    const group = isRich ? tool.namespace : undefined;
    const full = tool.namespace === group ? tool.name : joined(tool.namespace ?? '', tool.name);
    let name = this.#fitted(full);
    for (let count = 2; this.#tools.has(keyOf(group, name)); count += 1) {
      name = this.#fitted(`${full} ${count}`);
    }
    this.#written.set(key, name);
    this.#tools.set(keyOf(group, name), tool);
    return name;
  }

  /** The tool that the client knows; what nobody gave a name keeps its own. */
  original(use: NamedTool): NamedTool {
    return this.#tools.get(keyOf(use.namespace, use.name)) ?? use;
  }

  #fitted(name: string): string {
    const { forbidden, lengthMax } = this.#traits;
    const clean = name.replaceAll(forbidden, '_');
    if (clean === name && name !== '' && name.length <= lengthMax) return name;
    return `${clean.slice(0, lengthMax - 9)}_${hash8(name)}`;
  }

  /** An id that is too long for the wire is cut, in the call and in its result alike. */
  callId(id: string): string {
    const { idLengthMax } = this.#traits;
    return id.length <= idLengthMax ? id : `${id.slice(0, idLengthMax - 9)}_${hash8(id)}`;
  }
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}\n${name}`;
}

/** `mcp__files` and `read` are `mcp__files__read`, as clients write it. */
function joined(namespace: string, name: string): string {
  return namespace.endsWith('__') ? `${namespace}${name}` : `${namespace}__${name}`;
}

/** FNV-1a: tells names apart that look alike when they are cut. It protects nothing. */
function hash8(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

export function isNamed(tool: Tool): tool is FunctionTool | CustomTool {
  return tool.kind !== 'hosted';
}

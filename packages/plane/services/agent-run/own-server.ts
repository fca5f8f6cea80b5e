// An MCP server of our own, in this process: to the governor it is a server as any other.
import { isJsonObject, isObject, type JsonObject } from '@subluminal/contracts';
import type { ServerExit } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { errorText, parseJson } from '../../os/index.ts';
import { MemoryTransport, type MessageLimits } from '../transports/memory/memory-transport.ts';
import type { ServerEnd } from '../transports/types.ts';
import type { OwnAnswer, OwnServer, OwnTool } from './own-tool.ts';
import { PROTOCOL_VERSION, RPC_ERRORS, rpcError, rpcResult } from './rpc-text.ts';

const TEXT_LENGTH_MAX = 262_144;
const WORDS_MAX = 500;

/** Opens it for one session. `keyOf` gives the key of the call with this request id. */
export function openOwnServer(
  own: OwnServer,
  limits: MessageLimits,
  keyOf: (id: number) => string,
): ServerEnd {
  const session = new OwnServerSession(own, limits, keyOf);
  // It ends only with its session.
  return {
    transport: session.transport,
    gone: new Promise<ServerExit>(() => {}),
    close: session.close,
  };
}

class OwnServerSession {
  readonly transport: MemoryTransport;
  readonly #own: OwnServer;
  readonly #keyOf: (id: number) => string;
  readonly #open = new Map<number, AbortController>();

  constructor(own: OwnServer, limits: MessageLimits, keyOf: (id: number) => string) {
    this.#own = own;
    this.#keyOf = keyOf;
    this.transport = new MemoryTransport(limits, {
      received: (bytes) => this.#received(bytes),
      broken: () => {},
    });
  }

  readonly close = (): Promise<void> => {
    for (const calling of this.#open.values()) calling.abort();
    this.#open.clear();
    return Promise.resolve();
  };

  #received(bytes: Uint8Array): void {
    const message = parseJson(Buffer.from(bytes).toString('utf8'));
    if (!isObject(message)) return;
    const { id, method, params } = message;
    const given = isObject(params) ? params : {};
    if (method === 'notifications/cancelled') return this.#cancel(given['requestId']);
    if (typeof id !== 'number' || typeof method !== 'string') return;
    switch (method) {
      case 'initialize':
        return this.#answer(id, this.#introduction());
      case 'ping':
        return this.#answer(id, {});
      case 'tools/list':
        return this.#answer(id, { tools: this.#own.tools.map(listed) });
      case 'tools/call':
        return this.#call(id, given);
      default:
        this.#send(rpcError(id, RPC_ERRORS.unknownMethod, 'There is no such method.'));
    }
  }

  #introduction(): JsonObject {
    const { name, instructions } = this.#own;
    return {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: { tools: {} },
      serverInfo: { name, version: '1' },
      ...(instructions !== undefined && { instructions }),
    };
  }

  #call(id: number, { name, arguments: args = {} }: { readonly [key: string]: unknown }): void {
    const tool = this.#own.tools.find((one) => one.name === name);
    if (tool === undefined || !isJsonObject(args)) {
      const words = tool === undefined ? 'There is no such tool.' : 'The arguments are no object.';
      return this.#send(rpcError(id, RPC_ERRORS.badParams, words));
    }
    const calling = new AbortController();
    this.#open.set(id, calling);
    const use = { key: this.#keyOf(id), signal: calling.signal };
    void answerOf(() => tool.call(args, use)).then((answer) => {
      // Nobody waits for it any more.
      if (!this.#open.delete(id)) return;
      this.#answer(id, toolResult(answer));
    });
  }

  #cancel(id: unknown): void {
    if (typeof id !== 'number') return;
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  #answer(id: number, result: JsonObject): void {
    this.#send(rpcResult(id, result));
  }

  #send(text: string): void {
    // The governor has handled the request by then.
    queueMicrotask(() => this.transport.send(Buffer.from(text)));
  }
}

function listed({ name, description, inputSchema, annotations }: OwnTool): JsonObject {
  return {
    name,
    description,
    inputSchema,
    ...(annotations !== undefined && { annotations: { ...annotations } }),
  };
}

/** What a tool throws is its answer, too. */
async function answerOf(call: () => Promise<OwnAnswer>): Promise<OwnAnswer> {
  try {
    return await call();
  } catch (cause) {
    return { text: `The tool has failed: ${visible(errorText(cause), WORDS_MAX)}`, isError: true };
  }
}

function toolResult({ text, structured, isError = false }: OwnAnswer): JsonObject {
  const more = text.length - TEXT_LENGTH_MAX;
  const shown = more > 0 ? `${text.slice(0, TEXT_LENGTH_MAX)}\n[${more} more characters]` : text;
  const isSmall = structured !== undefined && JSON.stringify(structured).length <= TEXT_LENGTH_MAX;
  return {
    content: [{ type: 'text', text: shown }],
    ...(isSmall && { structuredContent: structured }),
    ...(isError && { isError: true }),
  };
}

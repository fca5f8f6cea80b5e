// One session of an agent with one server: an MCP client, the governor and the way to the server.
import { isJsonObject, isObject, type JsonObject } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { CallBrief } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { errorText } from '../../os/index.ts';
import { ServedSession } from '../serve/sessions/served-session.ts';
import type { AgentEntry, AgentServed, AgentServerOptions } from './agent-server.ts';
import { ForwardWatch } from './forward-watch.ts';
import { outcomeOf } from './outcome.ts';
import { openOwnServer } from './own-server.ts';
import { RpcPeer, type RpcReply, type SentRequest, TIMED_OUT } from './rpc-peer.ts';
import { PROTOCOL_VERSION } from './rpc-text.ts';
import type { AgentCall, AgentOutcome, AgentTool } from './types.ts';

interface LinkOptions extends AgentServerOptions {
  readonly entry: AgentEntry;
  readonly served: AgentServed;
  /** It is over, and no call gets through it any more. */
  readonly onOver: () => void;
  readonly onClosing: (closing: Promise<void>) => void;
}

interface OpenAgentCall {
  readonly wanted: AgentCall;
  callId: string;
  wasForwarded: boolean;
  isGivenUp: boolean;
  timer: NodeJS.Timeout | undefined;
}

const START_MS = 60_000;
const LIST_MS = 30_000;
/** Servers need not say that their tools have changed, and manifests change without them. */
const LIST_AGE_MAX_MS = 60_000;
const PAGES_MAX = 50;
const TOOLS_MAX = 1_000;
const CALLS_MAX = 64;
const WORDS_MAX = 300;

/** A text says why there is none. */
export async function openLink(options: LinkOptions): Promise<ServerLink | string> {
  const link = new ServerLink(options);
  const why = await link.open();
  if (why === undefined) return link;
  link.close();
  return why;
}

export class ServerLink {
  readonly #options: LinkOptions;
  readonly #peer: RpcPeer;
  readonly #session: ServedSession<AgentServed>;
  readonly #calls = new Map<number, OpenAgentCall>();
  #isGone = false;
  #listed: { readonly tools: Promise<readonly AgentTool[]>; readonly atMs: number } | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { around, run, principal, entry, onOver, onClosing } = options;
    this.#peer = new RpcPeer({
      limits: around.limits,
      onToolsChanged: () => {
        this.#listed = undefined;
      },
    });
    this.#session = new ServedSession(around, {
      server: this.#served(),
      run,
      caller: { principal },
      agent: this.#peer.agent,
      transport: 'kind' in entry ? TRANSPORTS[entry.kind] : 'unknown',
      brief: (messageId, callId) => this.#brief(Number(messageId), callId),
      beforeServer: (server) => new ForwardWatch(server, (id) => this.#leaving(id)),
      onOver,
      onClosing,
    });
  }

  /** A text says why it cannot be used. */
  async open(): Promise<string | undefined> {
    await this.#session.open();
    const clientInfo = { name: this.#options.run.producer.agent_id, version: '1' };
    const params = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo };
    const reply = await this.#within(START_MS, this.#peer.request('initialize', params));
    if (reply.kind !== 'result') return reply.kind === 'none' ? reply.why : reply.message;
    this.#peer.notify('notifications/initialized', {});
    return undefined;
  }

  tools(): Promise<readonly AgentTool[]> {
    const nowMs = performance.now();
    const known = this.#listed;
    if (known !== undefined && nowMs - known.atMs < LIST_AGE_MAX_MS) return known.tools;
    const listed = { tools: this.#list(), atMs: nowMs };
    this.#listed = listed;
    return listed.tools;
  }

  async call(wanted: AgentCall): Promise<AgentOutcome> {
    const { signal, tool: name, args } = wanted;
    const open: OpenAgentCall = {
      wanted,
      callId: '',
      wasForwarded: false,
      isGivenUp: false,
      timer: undefined,
    };
    const problem = signal?.aborted === true ? 'The call was cancelled.' : this.#full();
    if (problem !== undefined) return { kind: 'failed', message: problem, wasForwarded: false };
    const params = { name, arguments: args };
    const { id, reply } = this.#peer.request('tools/call', params, (own) => {
      this.#calls.set(own, open);
    });
    const cancel = (): void => this.#giveUp(id);
    signal?.addEventListener('abort', cancel, { once: true });
    const said = await reply;
    signal?.removeEventListener('abort', cancel);
    clearTimeout(open.timer);
    this.#calls.delete(id);
    const { callId, wasForwarded } = open;
    return outcomeOf(said, { callId, wasForwarded, isGone: this.#isGone });
  }

  async usePolicy(snapshot: Snapshot): Promise<void> {
    await this.#session.usePolicy(snapshot);
    // Another policy may hide other tools.
    this.#listed = undefined;
  }

  close(): void {
    this.#session.close();
  }

  #full(): string | undefined {
    return this.#peer.openCount >= CALLS_MAX ? 'Too many calls of it are open.' : undefined;
  }

  #giveUp(id: number, why?: string): void {
    const open = this.#calls.get(id);
    if (open !== undefined) open.isGivenUp = true;
    this.#peer.giveUp(id, why);
  }

  /** The server as this session reaches it. */
  #served(): AgentServed {
    const { served, entry, around } = this.#options;
    if ('tools' in entry) {
      const keyOf = (id: number): string => this.#calls.get(id)?.wanted.key ?? '';
      const connect = () => Promise.resolve(openOwnServer(entry, around.limits, keyOf));
      return { ...served, connect };
    }
    return {
      ...served,
      connect: async (caller) => {
        const end = await served.connect(caller);
        if (typeof end === 'string') return end;
        // Known before its calls get their errors.
        void end.gone.then(() => {
          this.#isGone = true;
        });
        return end;
      },
    };
  }

  #brief(id: number, callId: string): CallBrief | undefined {
    const open = this.#calls.get(id);
    if (open === undefined) return undefined;
    open.callId = callId;
    const { judgements, about } = open.wanted;
    return { judgements, about };
  }

  /** Why a call must not leave for the server; it has passed every gate. */
  #leaving(id: number): string | undefined {
    const open = this.#calls.get(id);
    if (open === undefined || open.isGivenUp) return 'The call was given up.';
    try {
      open.wanted.onForward?.();
    } catch (cause) {
      return `The call was stopped before it left: ${visible(errorText(cause), WORDS_MAX)}`;
    }
    open.wasForwarded = true;
    const { orphanMs } = this.#options.around.limits;
    open.timer = setTimeout(() => this.#giveUp(id, TIMED_OUT), orphanMs).unref();
    return undefined;
  }

  async #list(): Promise<readonly AgentTool[]> {
    const tools: AgentTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const params: JsonObject = cursor === undefined ? {} : { cursor };
      const reply = await this.#within(LIST_MS, this.#peer.request('tools/list', params));
      if (reply.kind !== 'result') {
        // What is missing is asked for again the next time.
        this.#listed = undefined;
        return tools;
      }
      const { tools: items, nextCursor } = reply.result;
      for (const item of Array.isArray(items) ? items : []) {
        const tool = this.#toolOf(item);
        if (tool !== undefined && tools.length < TOOLS_MAX) tools.push(tool);
      }
      if (typeof nextCursor !== 'string' || tools.length >= TOOLS_MAX) break;
      cursor = nextCursor;
    }
    return tools;
  }

  #toolOf(item: unknown): AgentTool | undefined {
    if (!isObject(item)) return undefined;
    const { name, description, inputSchema, annotations } = item;
    if (typeof name !== 'string' || !isJsonObject(inputSchema)) return undefined;
    const hints = isObject(annotations) ? annotations : {};
    const isReadOnly = hints['readOnlyHint'] === true;
    const { entry } = this.#options;
    const own = 'tools' in entry ? entry.tools.find((tool) => tool.name === name) : undefined;
    return {
      server: entry.name,
      name,
      description: typeof description === 'string' ? description : '',
      inputSchema,
      isReadOnly,
      // A foreign server cannot know our keys, so it cannot tell a repetition.
      isRepeatable: isReadOnly || (own !== undefined && hints['idempotentHint'] === true),
      ...(own?.argsProblem && { argsProblem: (args: JsonObject) => own.argsProblem?.(args) }),
    };
  }

  async #within(timeoutMs: number, { id, reply }: SentRequest): Promise<RpcReply> {
    const timer = setTimeout(() => this.#peer.giveUp(id, TIMED_OUT), timeoutMs);
    try {
      return await reply;
    } finally {
      clearTimeout(timer);
    }
  }
}

const TRANSPORTS = { command: 'mcp_stdio', remote: 'mcp_http' } as const;

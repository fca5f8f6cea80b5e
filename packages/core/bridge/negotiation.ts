// Finds out whether the agent and the server speak the same era, with the first messages of both.
//
// A modern agent: the server is asked by `server/discover`. A result or an error of the modern era means
// modern; everything else, silence too, means legacy. An agent that speaks both eras gets the answer of a
// legacy server as it is, and begins again with `initialize`: what need not be translated is not.
// A legacy agent: its `initialize` goes to the server. Only when that fails is the server asked by
// `server/discover`, because a legacy server may take an unknown first request badly.

import { LegacyAgentBridge } from './legacy-agent/bridge.ts';
import { legacyClientIn, speaksModern } from './legacy-agent/handshake.ts';
import { ModernAgentBridge } from './modern-agent/bridge.ts';
import { INTERNAL_ERROR, isModernError, META, METHOD_NOT_FOUND } from './shared/era-names.ts';
import { objectOf, stringOf, textAt } from './shared/object-text.ts';
import { answerIn } from './shared/outbox.ts';
import { errorJson, errorResponse, requestText } from './shared/rpc-lines.ts';
import {
  type BridgeCommand,
  type BridgeConfig,
  type BridgeMessage,
  type EraBridge,
  hasRoomFor,
} from './shared/types.ts';

export type Verdict =
  /** Messages pass as they are. */
  | { readonly kind: 'same' }
  | { readonly kind: 'bridge'; readonly bridge: EraBridge }
  /** The server was not reached: the next first message of the agent begins again. */
  | { readonly kind: 'open' };

export interface EraNegotiation {
  readonly verdict: Verdict | undefined;
  start(nowMs: number): readonly BridgeCommand[];
  fromAgent(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  fromServer(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  tick(nowMs: number): readonly BridgeCommand[];
}

/** The answer to `server/discover`, as far as it shows an era. */
function discoveredIn(text: string, code: number | undefined): 'modern' | 'legacy' {
  const answer = answerIn(text);
  if (answer?.kind === 'error') return isModernError(code) ? 'modern' : 'legacy';
  return textAt(answer?.json, 'supportedVersions')?.startsWith('[') === true ? 'modern' : 'legacy';
}

/** As a transport over HTTP says it. */
function isUnauthorized(text: string): boolean {
  const answer = answerIn(text);
  return answer?.kind === 'error' && textAt(answer.json, 'data', 'http_status') === '401';
}

/** Clients that speak both eras and choose by the answer to `server/discover`, by the name they give themselves. */
const SPEAKERS_OF_BOTH: ReadonlySet<string> = new Set(['claude-code']);

function forward(to: 'agent' | 'server', messages: readonly BridgeMessage[]): BridgeCommand[] {
  return messages.map((message) => ({ do: 'forward', to, message }));
}

const FULL: BridgeCommand = {
  do: 'note',
  detail: 'too many messages came before the era of the server was known; one was dropped',
};

/** A request that is dropped is answered. */
function noRoom({ seen }: BridgeMessage): readonly BridgeCommand[] {
  if (seen.kind !== 'request') return [FULL];
  const error = errorJson(INTERNAL_ERROR, 'Too many requests wait for the server to start.');
  return [FULL, { do: 'write', to: 'agent', text: errorResponse(seen.id.json, error) }];
}

/** A server is asked for its era on behalf of a modern agent. */
export class ModernAgentNegotiation implements EraNegotiation {
  verdict: Verdict | undefined;
  readonly #config: BridgeConfig;
  readonly #first: BridgeMessage;
  /** The JSON of the id of the question. */
  #probeId = '';
  #untilMs = 0;
  #ofAgent: BridgeMessage[] = [];
  #ofServer: BridgeMessage[] = [];
  /** The server was silent for too long, and the handshake has begun; it may still show to be modern. */
  #trial: ModernAgentBridge | undefined;

  /** `first` is the agent's first request. */
  constructor(config: BridgeConfig, first: BridgeMessage) {
    this.#config = config;
    this.#first = first;
  }

  start(nowMs: number): readonly BridgeCommand[] {
    const { seen, text } = this.#first;
    this.#untilMs = nowMs + this.#config.limits.discoverMs;
    this.#ofAgent.push(this.#first);
    if (seen.kind === 'request' && seen.method === 'server/discover') {
      this.#probeId = seen.id.json;
      return forward('server', [this.#first]);
    }
    this.#probeId = JSON.stringify(this.#config.token());
    const own = textAt(text, 'params', '_meta');
    const meta = objectOf({
      [META.version]: textAt(own, META.version),
      [META.clientInfo]: textAt(own, META.clientInfo),
      [META.capabilities]: textAt(own, META.capabilities) ?? '{}',
    });
    const request = requestText(this.#probeId, 'server/discover', objectOf({ _meta: meta }));
    return [{ do: 'write', to: 'server', text: request }];
  }

  fromAgent(message: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    const { seen } = message;
    if (seen.kind === 'request' && seen.method === 'initialize' && this.#trial === undefined) {
      // The agent did not wait for the answer, and has chosen the legacy era.
      this.verdict = { kind: 'same' };
      return [...forward('server', [message]), ...forward('agent', this.#ofServer)];
    }
    if (!hasRoomFor(message, this.#ofAgent, this.#config.limits)) return noRoom(message);
    this.#ofAgent.push(message);
    return this.#trial?.fromAgent(message, nowMs) ?? [];
  }

  fromServer(message: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    const { seen, text } = message;
    if (seen.kind === 'response' && seen.id?.json === this.#probeId) {
      if (discoveredIn(text, seen.code) === 'modern') return this.#same(message);
      if (isUnauthorized(text)) return this.#refuse(text);
      return this.#fallsBack() && this.#trial === undefined
        ? this.#leave(message)
        : this.#bridge(nowMs);
    }
    if (this.#trial !== undefined) {
      const commands = this.#trial.fromServer(message, nowMs);
      if (this.#trial.handshake !== 'under way')
        this.verdict = { kind: 'bridge', bridge: this.#trial };
      return commands;
    }
    if (!hasRoomFor(message, this.#ofServer, this.#config.limits)) return [FULL];
    this.#ofServer.push(message);
    return [];
  }

  /** Nobody gets in before a login, so this shows no era: each request gets the error that asks for it. */
  #refuse(text: string): readonly BridgeCommand[] {
    this.verdict = { kind: 'open' };
    const error = answerIn(text)?.json ?? errorJson(INTERNAL_ERROR, 'The server wants a login.');
    const asked = this.#ofAgent.flatMap(({ seen }) =>
      seen.kind === 'request' ? [seen.id.json] : [],
    );
    return [
      ...asked.map((id) => ({ do: 'write', to: 'agent', text: errorResponse(id, error) }) as const),
      ...forward('agent', this.#ofServer),
    ];
  }

  tick(nowMs: number): readonly BridgeCommand[] {
    if (nowMs < this.#untilMs || this.#trial !== undefined) return [];
    this.#trial = new ModernAgentBridge(this.#config);
    return this.#feed(this.#trial, nowMs);
  }

  #same(answer: BridgeMessage): readonly BridgeCommand[] {
    this.verdict = { kind: 'same' };
    const isOwn = this.#ofAgent[0]?.seen.kind === 'request' && this.#isProbe(this.#ofAgent[0]);
    return [
      ...forward('agent', isOwn ? [answer] : []),
      ...forward('server', isOwn ? this.#ofAgent.slice(1) : this.#ofAgent),
      ...forward('agent', this.#ofServer),
    ];
  }

  /** Whether the agent has asked for the era itself, and can speak the other one as well. */
  #fallsBack(): boolean {
    const { text } = this.#first;
    const name = stringOf(textAt(text, 'params', '_meta', META.clientInfo, 'name'));
    return this.#isProbe(this.#first) && name !== undefined && SPEAKERS_OF_BOTH.has(name);
  }

  /** The agent chooses by itself. */
  #leave(answer: BridgeMessage): readonly BridgeCommand[] {
    this.verdict = { kind: 'open' };
    return [
      ...forward('agent', [answer, ...this.#ofServer]),
      ...forward('server', this.#ofAgent.slice(1)),
    ];
  }

  #isProbe({ seen }: BridgeMessage): boolean {
    return seen.kind === 'request' && seen.id.json === this.#probeId;
  }

  #bridge(nowMs: number): readonly BridgeCommand[] {
    const bridge = this.#trial ?? new ModernAgentBridge(this.#config);
    this.verdict = { kind: 'bridge', bridge };
    return this.#trial === undefined ? this.#feed(bridge, nowMs) : [];
  }

  #feed(bridge: ModernAgentBridge, nowMs: number): readonly BridgeCommand[] {
    return [
      ...this.#ofAgent.flatMap((message) => bridge.fromAgent(message, nowMs)),
      ...this.#ofServer.splice(0).flatMap((message) => bridge.fromServer(message, nowMs)),
    ];
  }
}

/** A server that has refused `initialize` of a legacy agent is asked for its era. */
export class LegacyAgentNegotiation implements EraNegotiation {
  verdict: Verdict | undefined;
  readonly #config: BridgeConfig;
  readonly #initialize: BridgeMessage;
  readonly #refusal: BridgeMessage;
  readonly #probeId: string;
  #untilMs = 0;
  readonly #ofAgent: BridgeMessage[] = [];

  constructor(config: BridgeConfig, initialize: BridgeMessage, refusal: BridgeMessage) {
    this.#config = config;
    this.#initialize = initialize;
    this.#refusal = refusal;
    this.#probeId = JSON.stringify(config.token());
  }

  start(nowMs: number): readonly BridgeCommand[] {
    this.#untilMs = nowMs + this.#config.limits.discoverMs;
    const { meta } = legacyClientIn(this.#initialize.text);
    const params = objectOf({ _meta: objectOf(meta) });
    const text = requestText(this.#probeId, 'server/discover', params);
    return [{ do: 'write', to: 'server', text }];
  }

  fromAgent(message: BridgeMessage): readonly BridgeCommand[] {
    if (!hasRoomFor(message, this.#ofAgent, this.#config.limits)) return noRoom(message);
    this.#ofAgent.push(message);
    return [];
  }

  fromServer(message: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    const { seen, text } = message;
    const isAnswer = seen.kind === 'response' && seen.id?.json === this.#probeId;
    if (!isAnswer) return forward('agent', [message]);
    const answer = answerIn(text);
    if (discoveredIn(text, seen.code) === 'legacy') {
      return this.#isRefusedByModern(seen.code) ? this.#refuse(text) : this.#giveUp();
    }
    if (answer?.kind !== 'result' || !speaksModern(answer.json)) return this.#refuse(text);
    const bridge = new LegacyAgentBridge(this.#config, this.#initialize.text, answer.json);
    this.verdict = { kind: 'bridge', bridge };
    return [this.#initialize, ...this.#ofAgent].flatMap((one) => bridge.fromAgent(one, nowMs));
  }

  tick(nowMs: number): readonly BridgeCommand[] {
    return nowMs < this.#untilMs ? [] : this.#giveUp();
  }

  /** `initialize` got an error of the modern era: what keeps it out shows in the answer to `server/discover`. */
  #isRefusedByModern(code: number | undefined): boolean {
    const { seen } = this.#refusal;
    if (code === undefined || code === METHOD_NOT_FOUND) return false;
    return seen.kind === 'response' && isModernError(seen.code);
  }

  /** The server is no modern one, or does not say: the agent gets the answer to its `initialize`. */
  #giveUp(): readonly BridgeCommand[] {
    this.verdict = { kind: 'open' };
    return [...forward('agent', [this.#refusal]), ...forward('server', this.#ofAgent)];
  }

  /** The server is modern, and speaks no revision that can be bridged, or refuses this agent. */
  #refuse(text: string): readonly BridgeCommand[] {
    const { seen } = this.#initialize;
    if (seen.kind !== 'request') return this.#giveUp();
    this.verdict = { kind: 'open' };
    const answer = answerIn(text);
    const versions = textAt(answer?.json, 'supportedVersions') ?? textAt(answer?.json, 'data');
    const error =
      answer?.kind === 'error'
        ? answer.json
        : errorJson(
            INTERNAL_ERROR,
            'The server speaks only revisions of MCP that are too new to be translated for this client.',
            versions,
          );
    return [{ do: 'write', to: 'agent', text: errorResponse(seen.id.json, error) }];
  }
}

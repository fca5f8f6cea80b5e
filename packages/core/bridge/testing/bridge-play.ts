// Scripts for a bridge, for tests only: who says what, and what is written because of it.
import { utf8Of } from '../../json/patch-text.ts';
import { peek } from '../../session/peek/peek.ts';
import type { Side } from '../../session/types.ts';
import { LegacyAgentBridge } from '../legacy-agent/bridge.ts';
import { ModernAgentBridge } from '../modern-agent/bridge.ts';
import {
  BRIDGE_LIMITS,
  type BridgeCommand,
  type BridgeConfig,
  type BridgeLimits,
  type BridgeMessage,
} from '../shared/types.ts';

export interface Written {
  readonly to: Side;
  readonly message: unknown;
  readonly about?: string;
}

interface Machine {
  fromAgent(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  fromServer(message: BridgeMessage, nowMs: number): readonly BridgeCommand[];
  settle?(nowMs: number): readonly BridgeCommand[];
  tick(nowMs: number): readonly BridgeCommand[];
}

export interface BridgePlay {
  readonly run: (commands: readonly BridgeCommand[]) => readonly Written[];
  readonly agent: (message: unknown, nowMs?: number) => readonly Written[];
  /** Messages of one read. */
  readonly server: (message: unknown, about?: string, nowMs?: number) => readonly Written[];
  readonly tick: (nowMs: number) => readonly Written[];
  /** Everything that was written so far, as text. */
  readonly lines: string[];
  readonly notes: string[];
}

export function bridgeConfig(limits: Partial<BridgeLimits> = {}): BridgeConfig {
  let tokens = 0;
  return {
    token: () => `t${++tokens}`,
    // As good as a hash here: another text for another call.
    sha256: (text) => text,
    limits: { ...BRIDGE_LIMITS, ...limits },
  };
}

export function messageOf(message: unknown, about?: string): BridgeMessage {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const bytes = utf8Of(`${text}\n`);
  return { seen: peek(bytes), bytes, text: `${text}\n`, about };
}

export function playWith(machine: Machine): BridgePlay {
  const lines: string[] = [];
  const notes: string[] = [];
  const run = (commands: readonly BridgeCommand[]): readonly Written[] =>
    commands.flatMap((command): readonly Written[] => {
      if (command.do === 'note') {
        notes.push(command.detail);
        return [];
      }
      const text = command.do === 'write' ? command.text : command.message.text;
      lines.push(text);
      const about = command.do === 'write' ? command.about : undefined;
      const message: unknown = JSON.parse(text);
      return [{ to: command.to, message, ...(about !== undefined && { about }) }];
    });
  const settled = (nowMs: number): readonly Written[] => run(machine.settle?.(nowMs) ?? []);
  return {
    run,
    lines,
    notes,
    agent: (message, nowMs = 0) => [
      ...run(machine.fromAgent(messageOf(message), nowMs)),
      ...settled(nowMs),
    ],
    server: (message, about, nowMs = 0) => {
      const all: readonly unknown[] = Array.isArray(message) ? message : [message];
      const outputs = all.flatMap((one) => run(machine.fromServer(messageOf(one, about), nowMs)));
      return [...outputs, ...settled(nowMs)];
    },
    tick: (nowMs) => run(machine.tick(nowMs)),
  };
}

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
export const SERVER_INFO = { name: 'srv', version: '2' };
const SERVER_META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };

/** Metadata of a modern request. */
export function modernMeta(more: object = {}, capabilities: object = ALL): object {
  const clientInfo = { name: 'cli', version: '1' };
  return {
    [VERSION]: '2026-07-28',
    'io.modelcontextprotocol/clientInfo': clientInfo,
    [CAPABILITIES]: capabilities,
    ...more,
  };
}

/** A modern request. */
export function ask(id: unknown, method: string, params: object = {}, meta = modernMeta()): object {
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } };
}

export function plain(id: unknown, method: string, params?: object): object {
  return { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) };
}

export function say(method: string, params?: object): object {
  return { jsonrpc: '2.0', method, ...(params !== undefined && { params }) };
}

export function ok(id: unknown, result: unknown = {}): object {
  return { jsonrpc: '2.0', id, result };
}

export function bad(id: unknown, code: number, more: object = {}): object {
  return { jsonrpc: '2.0', id, error: { code, message: 'no', ...more } };
}

/** A complete modern result. */
export function whole(id: unknown, result: object = {}): object {
  return ok(id, { ...result, resultType: 'complete', _meta: SERVER_META });
}

export const LEGACY_RESULT = {
  protocolVersion: '2025-11-25',
  capabilities: {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
  },
  serverInfo: SERVER_INFO,
  instructions: 'Be kind.',
};

export const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    extensions: { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/ui': {} },
  },
  instructions: 'Be kind.',
  ttlMs: 5,
  cacheScope: 'public',
  _meta: SERVER_META,
};

/** A modern agent before a legacy server, after the handshake; requests to the server are t1-2, t1-3, … */
export function modernAgent(
  limits: Partial<BridgeLimits> = {},
  result: object = LEGACY_RESULT,
): BridgePlay {
  const play = playWith(new ModernAgentBridge(bridgeConfig(limits)));
  play.agent(ask('first', 'server/discover'));
  play.server(ok('t1-1', result));
  return play;
}

export const INITIALIZE = plain(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: { ...ALL, roots: { listChanged: true } },
  clientInfo: { name: 'cli', version: '1' },
});

/** A legacy agent before a modern server; requests to the server are t1-1, t1-2, … */
export function legacyAgent(
  limits: Partial<BridgeLimits> = {},
  initialize: object = INITIALIZE,
): BridgePlay {
  const bridge = new LegacyAgentBridge(
    bridgeConfig(limits),
    JSON.stringify(initialize),
    JSON.stringify(DISCOVERED),
  );
  return playWith(bridge);
}

// Scripts for a session, for tests only: who says what, and exactly what is done about it.
import type { EventBody, Rule } from '@subluminal/contracts';
import { snapshotOf } from '../policy/testing/scenario.ts';
import type { Message } from './context.ts';
import { parsed, under } from './json.test-support.ts';
import type { LargeHead } from './large-messages.ts';
import { Session } from './session.ts';
import type { Command, Emit, SessionConfig, Side } from './types.ts';

type Options = Parameters<typeof snapshotOf>[1];

export interface Play {
  readonly session: Session;
  /** Says something as one side; texts get a newline, other values are written as JSON. */
  readonly send: (side: Side, message: unknown, nowMs?: number) => readonly Command[];
  /** The same, in short: forwarded, answers, events. */
  readonly sendInShort: (side: Side, message: unknown, nowMs?: number) => readonly string[];
}

const IDENTITY = { run_id: 'run', agent_id: 'agent', client: 'claude', env: 'dev' };

export async function play(
  rules: readonly Rule[] = [],
  options: Options & { readonly config?: Partial<SessionConfig> } = {},
): Promise<Play> {
  const { config, ...policy } = options;
  const snapshot = config?.snapshot ?? (await snapshotOf(rules, policy));
  let calls = 0;
  const session = new Session({
    serverName: 'files',
    profile: policy.profile ?? 'production',
    snapshot,
    identity: IDENTITY,
    callId: () => `call-${++calls}`,
    sha256: toyHash,
    ...config,
  });
  const send: Play['send'] = (side, message, nowMs = 0) => {
    const line = lineOf(message);
    return session.handle(session.read(side, line), nowMs);
  };
  return { session, send, sendInShort: (...message) => inShort(send(...message)) };
}

/** Reads the same bytes once per session, as a governor does that asks the hub in between. */
export function readOnce(session: Session, from: Side, bytes: Uint8Array): Message {
  const known = messages.get(bytes);
  if (known?.session === session) return known.message;
  const message = session.read(from, bytes);
  messages.set(bytes, { session, message });
  return message;
}

export function readHeadOnce(session: Session, from: Side, bytes: Uint8Array): LargeHead {
  const known = heads.get(bytes);
  if (known?.session === session) return known.head;
  const head = session.readHead(from, bytes);
  heads.set(bytes, { session, head });
  return head;
}

const messages = new WeakMap<Uint8Array, { session: Session; message: Message }>();
const heads = new WeakMap<Uint8Array, { session: Session; head: LargeHead }>();

export function call(id: unknown, name: string, args: unknown = {}): unknown {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

export function request(id: unknown, method: string, params: unknown = {}): unknown {
  return { jsonrpc: '2.0', id, method, params };
}

export function result(id: unknown, value: unknown = {}): unknown {
  return { jsonrpc: '2.0', id, result: value };
}

export function initialize(version: string): readonly [unknown, unknown] {
  const protocolVersion = version;
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  return [request('init', 'initialize', params), result('init', { protocolVersion })];
}

export function lineOf(message: unknown): Uint8Array {
  if (message instanceof Uint8Array) return message;
  return bytesOf(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
}

/** UTF-8, in a package that has no TextEncoder. */
export function bytesOf(text: string): Uint8Array {
  const escaped = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let at = 0; at < escaped.length; at++) {
    if (escaped[at] === '%') {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
      at += 2;
    } else bytes.push(escaped.charCodeAt(at));
  }
  return Uint8Array.from(bytes);
}

/** 64 hex digits that depend on every character. */
export function toyHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0').repeat(8);
}

/** Commands in a word or two each; the parts of a large message are left out. */
export function inShort(commands: readonly Command[]): readonly string[] {
  return commands.flatMap((command) => {
    switch (command.do) {
      case 'forward':
        return `forward to ${command.to}${command.bytes === undefined ? '' : ' in part'}`;
      case 'answer':
        return `answer ${answerInShort(command.text)}${command.to === 'agent' ? '' : ' to server'}`;
      case 'drop':
        return `drop ${command.reason}`;
      case 'report':
        return `report ${command.report.what} ${command.report.reason}`;
      case 'emit':
        return eventInShort(command);
      case 'terminate':
        return `terminate ${command.code}`;
      case 'result':
        return `result ${command.callId} ${command.result}`;
      case 'consult':
        return `consult ${command.question.ref.call_id}`;
      case 'discard':
        return `${command.do} ${command.callId}`;
      case 'stream':
      case 'finish':
      case 'break':
        return `${command.do} to ${command.to}`;
      case 'part':
        return [];
      case 'swallow':
        return 'swallow';
    }
  });
}

function answerInShort(text: string): string {
  const answer = parsed(text);
  const code = under(answer, 'error', 'code');
  if (typeof code === 'number') return `${JSON.stringify(under(answer, 'id'))} ${code}`;
  const isError = under(answer, 'result', 'isError') === true;
  return `${JSON.stringify(under(answer, 'id'))} ${isError ? 'isError' : 'other'}`;
}

function eventInShort(command: Extract<Command, { do: 'emit' }>): string {
  switch (command.type) {
    case 'tool_call_start':
      return `start ${command.body.call.tool_name}`;
    case 'tool_call_decision':
      return `decision ${command.body.decision.action} ${command.body.decision.explain.reason_code}`;
    case 'tool_call_end':
      return `end ${command.body.status}`;
    default:
      return command.type;
  }
}

/** The events of one type among commands. */
export function eventsOf<T extends Emit['type']>(
  commands: readonly Command[],
  type: T,
): readonly EventBody<T>[] {
  const isWanted = (command: Command): command is Command & { readonly body: EventBody<T> } =>
    command.do === 'emit' && command.type === type;
  const found: EventBody<T>[] = [];
  for (const command of commands) if (isWanted(command)) found.push(command.body);
  return found;
}

/** The answers among commands, read. */
export function answersOf(commands: readonly Command[]): readonly unknown[] {
  return commands.flatMap((command) => (command.do === 'answer' ? [parsed(command.text)] : []));
}

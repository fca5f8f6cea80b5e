// A modern agent before a legacy server.
import { itemTextsAt } from '../../json/text-parts.ts';
import type { SeenNotification, SeenRequest, SeenResponse } from '../../session/peek/types.ts';
import { MODERN_VERSION } from '../../session/versions.ts';
import {
  INPUT_METHODS,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  levelOf,
  META,
  METHOD_NOT_FOUND,
  severityOf,
  UNSUPPORTED_VERSION,
  URL_ELICITATION_REQUIRED,
} from '../shared/era-names.ts';
import { askIn, isInputMethod } from '../shared/input-requests.ts';
import { isObjectText, objectOf, stringOf, textAt, withMembers } from '../shared/object-text.ts';
import { type AnswerText, Outbox } from '../shared/outbox.ts';
import { errorJson, errorResponse, notificationText, resultText } from '../shared/rpc-lines.ts';
import {
  type BridgeCommand,
  type BridgeConfig,
  type BridgeMessage,
  type EraBridge,
  hasRoomFor,
} from '../shared/types.ts';
import { type AgentRound, type BridgedCall, BridgedCalls } from './calls.ts';
import {
  discoverResult,
  initializeParams,
  type LegacyServer,
  legacyServerIn,
} from './handshake.ts';
import { InputRounds, UNKNOWN_STATE } from './input-rounds.ts';
import { Listens } from './listens.ts';
import { toLegacy, toModernError, toModernResult } from './translate.ts';

/** Requests of the legacy era, which a modern server does not know. */
const REMOVED: ReadonlySet<string> = new Set([
  ...['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'],
  ...['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'tasks/update'],
]);
/** Notifications of the legacy era that no modern agent can use. */
const UNUSED: ReadonlySet<string> = new Set([
  'notifications/elicitation/complete',
  'notifications/tasks/status',
]);
/** A longer answer is not kept for an agent that does not wait for it. */
const KEPT_ANSWER_CHARS_MAX = 1_000_000;
const TASK_TOOLS_MAX = 10_000;
const CANCELLED = 'notifications/cancelled';

export class ModernAgentBridge implements EraBridge {
  readonly #config: BridgeConfig;
  readonly #out: Outbox;
  readonly #calls = new BridgedCalls();
  readonly #inputs: InputRounds;
  readonly #listens: Listens;
  /** What the server said of itself; undefined before the handshake. */
  #server: LegacyServer | undefined;
  /** Requests that wait for the handshake. */
  #queue: BridgeMessage[] = [];
  #isShaking = false;
  #nowMs = 0;
  /** The severity that the server was told; -1 for none. */
  #severity = -1;
  /** Tools that must be called as tasks. */
  readonly #taskTools = new Set<string>();

  constructor(config: BridgeConfig) {
    this.#config = config;
    this.#out = new Outbox(config.token());
    this.#inputs = new InputRounds(config, this.#out, this.#calls);
    this.#listens = new Listens(this.#out, config.limits);
  }

  get isWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /** Whether the handshake with the server has begun, and how it went. */
  get handshake(): 'under way' | 'done' | 'none' {
    if (this.#isShaking) return 'under way';
    return this.#server === undefined ? 'none' : 'done';
  }

  fromAgent(message: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    this.#nowMs = nowMs;
    const { seen } = message;
    if (seen.kind === 'request') this.#request(message, seen);
    else if (seen.kind === 'notification') this.#notification(message, seen);
    else this.#out.note('a message of the agent has no meaning in its era, and was dropped');
    return this.#out.take();
  }

  fromServer({ seen, text, about }: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    this.#nowMs = nowMs;
    if (seen.kind === 'response') this.#answered(seen, text);
    else if (seen.kind === 'request') this.#asked(seen, text, about);
    else if (seen.kind === 'notification') this.#notified(seen, text, about);
    else this.#out.note('a message of the server can not be read, and was dropped');
    return this.#out.take();
  }

  settle(nowMs: number): readonly BridgeCommand[] {
    this.#inputs.settle(nowMs);
    return this.#out.take();
  }

  tick(nowMs: number): readonly BridgeCommand[] {
    for (const call of this.#inputs.takeExpired(nowMs)) {
      const reason = '"The client did not come back with the input."';
      const params = objectOf({ requestId: call.serverId, reason });
      this.#stop(call, notificationText(CANCELLED, params));
    }
    return this.#out.take();
  }

  #request(message: BridgeMessage, { id, method, params }: SeenRequest): void {
    const meta = textAt(message.text, 'params', '_meta');
    const fault = faultOf(meta, params.metaVersion);
    if (fault !== undefined) return this.#fail(id.json, fault);
    if (REMOVED.has(method)) {
      const text = `\`${method}\` is not part of MCP ${MODERN_VERSION}.`;
      return this.#fail(id.json, errorJson(METHOD_NOT_FOUND, text));
    }
    if (this.#server !== undefined) return this.#serve(message, this.#server);
    if (!hasRoomFor(message, this.#queue, this.#config.limits)) {
      const text = 'Too many requests wait for the server to start.';
      return this.#fail(id.json, errorJson(INTERNAL_ERROR, text));
    }
    this.#queue.push(message);
    if (!this.#isShaking) this.#shakeHands(meta ?? '{}');
  }

  #shakeHands(meta: string): void {
    this.#isShaking = true;
    this.#out.ask({ method: 'initialize', params: initializeParams(meta) }, (answer) => {
      this.#isShaking = false;
      const queue = this.#queue.splice(0);
      const server = answer.kind === 'result' ? legacyServerIn(answer.json) : undefined;
      if (typeof server !== 'object') {
        // The next request tries again.
        const error = answer.kind === 'error' ? toModernError(answer.json) : cannotUse(server);
        for (const { seen } of queue) if (seen.kind === 'request') this.#fail(seen.id.json, error);
        return;
      }
      this.#server = server;
      this.#inputs.serverInfo = server.serverInfo;
      this.#out.toServer(notificationText('notifications/initialized'));
      for (const message of queue) this.#serve(message, server);
    });
  }

  /** A request of the agent, after the handshake. */
  #serve(message: BridgeMessage, server: LegacyServer): void {
    const { seen, text } = message;
    if (seen.kind !== 'request') return;
    const { id, method } = seen;
    const params = textAt(text, 'params') ?? '{}';
    if (method === 'server/discover') {
      return this.#out.toAgent(resultText(id.json, discoverResult(server)), id.json);
    }
    if (method === 'subscriptions/listen') {
      return this.#listens.open(id.json, params, server.capabilities);
    }
    const round = roundIn(id.json, params);
    const hash = INPUT_METHODS.has(method) ? this.#inputs.hashOf(method, params) : '';
    const isRetry =
      textAt(params, 'requestState') !== undefined ||
      textAt(params, 'inputResponses') !== undefined;
    if (!isRetry) return this.#start(message, round, hash);
    const retry = this.#inputs.retried(round, hash, params);
    if (retry.kind === 'unknown') return this.#fail(id.json, UNKNOWN_STATE);
    if (retry.kind === 'repeat') return this.#start(message, round, hash);
    const { final, unsent, waiting } = retry.call;
    if (unsent !== undefined && waiting.length === 0) {
      retry.call.unsent = undefined;
      this.#out.toServer(unsent);
    }
    if (final !== undefined) this.#deliver(retry.call, final);
  }

  /** Sends a request to the server. */
  #start({ seen, text }: BridgeMessage, round: AgentRound, hash: string): void {
    if (seen.kind !== 'request') return;
    if (this.#calls.openCount >= this.#config.limits.openMax) {
      return this.#fail(round.id, errorJson(INTERNAL_ERROR, 'Too many requests are open.'));
    }
    const call: BridgedCall = {
      serverId: this.#out.nextId(),
      method: seen.method,
      hash,
      serverToken: round.progressToken,
      round,
      capabilities: round.capabilities,
      unsent: undefined,
      asked: new Map(),
      waiting: [],
      rounds: 0,
      final: undefined,
      task: undefined,
      expiresAtMs: 0,
    };
    this.#calls.add(call);
    this.#setLevel();
    const line = this.#asTask(seen, toLegacy(text, call.serverId));
    if (this.#inputs.takesAlong(call)) call.unsent = line;
    else this.#out.toServer(line);
  }

  /** Calls of tools that only run as tasks get what makes them one. */
  #asTask({ method, params }: SeenRequest, text: string): string {
    if (method !== 'tools/call' || !this.#taskTools.has(params.name ?? '')) return text;
    const asked = withMembers(textAt(text, 'params'), { task: '{}' });
    return `${withMembers(text, { params: asked })}\n`;
  }

  /** Tells the server the most talkative level that an open request wants. */
  #setLevel(): void {
    const wanted = this.#calls.severityMin();
    const canLog = textAt(this.#server?.capabilities, 'logging') !== undefined;
    if (wanted === -1 || wanted === this.#severity || !canLog) return;
    this.#severity = wanted;
    const params = objectOf({ level: JSON.stringify(levelOf(wanted)) });
    this.#out.ask({ method: 'logging/setLevel', params }, () => {});
  }

  #notification(message: BridgeMessage, { method, params }: SeenNotification): void {
    if (method === CANCELLED) return this.#cancel(params.requestId?.json ?? '', message.text);
    if (method === 'notifications/roots/list_changed' || this.#server === undefined) return;
    this.#out.toServer(toLegacy(message.text));
  }

  #cancel(id: string, text: string): void {
    this.#queue = this.#queue.filter(({ seen }) => seen.kind !== 'request' || seen.id.json !== id);
    if (this.#listens.close(id)) return;
    const call = this.#calls.ofAgent(id);
    if (call === undefined) return;
    this.#calls.remove(call);
    this.#inputs.abandon(call);
    const params = withMembers(textAt(text, 'params'), { requestId: call.serverId });
    this.#stop(call, toLegacy(withMembers(text, { params })));
  }

  /** Ends the work of the server on a call that nobody waits for; `notice` says so unless it is a task. */
  #stop({ unsent, final, task }: BridgedCall, notice: string): void {
    if (unsent !== undefined || final !== undefined) return;
    if (task === undefined) return this.#out.toServer(notice);
    const params = objectOf({ taskId: JSON.stringify(task.id) });
    this.#out.ask({ method: 'tasks/cancel', params }, () => {});
  }

  #answered({ id }: SeenResponse, text: string): void {
    const find = (one: string) => this.#calls.ofServer(one);
    const answered = this.#out.callAnswered({ id, text, find });
    if (answered === undefined) return;
    const { call, answer } = answered;
    const taskId =
      answer.kind === 'result' ? stringOf(textAt(answer.json, 'task', 'taskId')) : undefined;
    if (taskId === undefined || call.task !== undefined) return this.#conclude(call, answer);
    // The answer to `tasks/result` comes when the task is over, and is the result of the call.
    const params = objectOf({ taskId: JSON.stringify(taskId) });
    const requestId = this.#out.ask({ method: 'tasks/result', params }, (result) =>
      this.#conclude(call, result),
    );
    this.#calls.becameTask(call, { id: taskId, requestId });
  }

  /** The server has answered a request of the agent. */
  #conclude(call: BridgedCall, answer: AnswerText): void {
    this.#calls.leaveServer(call);
    call.waiting.length = 0;
    call.asked.clear();
    if (call.round !== undefined) return this.#deliver(call, answer);
    const isKept = answer.json.length <= KEPT_ANSWER_CHARS_MAX;
    call.final = isKept ? answer : { kind: 'error', json: TOO_LARGE };
  }

  #deliver(call: BridgedCall, answer: AnswerText): void {
    const { round, method } = call;
    this.#calls.remove(call);
    if (round === undefined) return;
    if (answer.kind === 'result') {
      if (method === 'tools/list') this.#noteTaskTools(answer.json);
      const { serverInfo } = this.#inputs;
      const result = toModernResult(answer.json, { method, serverInfo });
      return this.#out.toAgent(resultText(round.id, result), round.id);
    }
    const isUrl = Number(textAt(answer.json, 'code')) === URL_ELICITATION_REQUIRED;
    if (isUrl && this.#inputs.required(call, answer.json, this.#nowMs)) return;
    this.#fail(round.id, toModernError(answer.json));
  }

  #noteTaskTools(result: string): void {
    for (const tool of itemTextsAt(result, 'tools') ?? []) {
      const name = stringOf(textAt(tool, 'name'));
      if (name === undefined || this.#taskTools.size >= TASK_TOOLS_MAX) continue;
      if (textAt(tool, 'execution', 'taskSupport') === '"required"') this.#taskTools.add(name);
      else this.#taskTools.delete(name);
    }
  }

  #asked({ id, method }: SeenRequest, text: string, about: string | undefined): void {
    if (method === 'ping') return this.#out.toServer(resultText(id.json, '{}'));
    if (isInputMethod(method)) return this.#inputs.asked(askIn(id.json, method, text), about);
    const error = errorJson(METHOD_NOT_FOUND, 'The client does not know this method.');
    this.#out.toServer(errorResponse(id.json, error));
  }

  #notified({ method, params }: SeenNotification, text: string, about: string | undefined): void {
    if (method === CANCELLED) return this.#inputs.withdrawn(params.requestId?.json ?? '');
    if (UNUSED.has(method) || this.#listens.notified(method, text)) return;
    if (method === 'notifications/progress') return this.#progressed(text);
    if (method === 'notifications/message') return this.#logged(text, about);
    const call = about === undefined ? undefined : this.#calls.ofServer(about);
    this.#out.toAgent(`${text.trimEnd()}\n`, call?.round?.id);
  }

  #progressed(text: string): void {
    const params = textAt(text, 'params');
    const token = textAt(params, 'progressToken');
    const round = token === undefined ? undefined : this.#calls.ofToken(token)?.round;
    if (round?.progressToken === undefined) return;
    const changed = withMembers(params, { progressToken: round.progressToken });
    this.#out.toAgent(`${withMembers(text, { params: changed })}\n`, round.id);
  }

  /** Messages go to the requests that want them, and to no other. */
  #logged(text: string, about: string | undefined): void {
    const severity = severityOf(textAt(text, 'params', 'level'));
    const isWanted = ({ round }: BridgedCall): boolean =>
      round !== undefined && round.severityMin !== -1 && round.severityMin <= severity;
    const named = about === undefined ? undefined : this.#calls.ofServer(about);
    const call = about === undefined ? this.#calls.newest(isWanted) : named;
    if (call !== undefined && isWanted(call))
      this.#out.toAgent(`${text.trimEnd()}\n`, call.round?.id);
  }

  #fail(id: string, error: string): void {
    this.#out.toAgent(errorResponse(id, error), id);
  }
}

const TOO_LARGE = errorJson(
  INTERNAL_ERROR,
  'The server answered while the call waited for input, and its answer was too large to keep.',
);

function cannotUse(why: string | undefined): string {
  const reason = why ?? 'the server answered `initialize` with neither a result nor an error';
  return errorJson(INTERNAL_ERROR, `The server can not be used: ${reason}.`);
}

/** Why a request does not have the metadata of its era: the JSON of an error. */
function faultOf(meta: string | undefined, version: string | undefined): string | undefined {
  if (version !== undefined && version !== MODERN_VERSION) {
    const data = JSON.stringify({ supported: [MODERN_VERSION], requested: version });
    return errorJson(UNSUPPORTED_VERSION, 'Unsupported protocol version', data);
  }
  const missing = version === undefined ? META.version : META.capabilities;
  if (version === undefined || !isObjectText(textAt(meta, META.capabilities))) {
    return errorJson(INVALID_PARAMS, `The member \`${missing}\` of \`_meta\` is missing.`);
  }
  const level = textAt(meta, META.logLevel);
  if (level === undefined || severityOf(level) !== -1) return undefined;
  return errorJson(INVALID_PARAMS, `\`${META.logLevel}\` is not a log level.`);
}

function roundIn(id: string, params: string): AgentRound {
  const meta = textAt(params, '_meta');
  return {
    id,
    capabilities: textAt(meta, META.capabilities) ?? '{}',
    severityMin: severityOf(textAt(meta, META.logLevel)),
    progressToken: textAt(meta, 'progressToken'),
  };
}

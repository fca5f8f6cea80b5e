// What a shim counts for the metrics of its hub: plain numbers, nothing new per message.
import {
  type CallRef,
  type Decision,
  HUB_DECISIONS,
  HUB_METHODS,
  type Profile,
  type ShimCounts,
} from '@subluminal/contracts';
import {
  type LargeHead,
  type Message,
  type Report,
  Session,
  type SessionConfig,
  type Side,
  UNREADABLE,
} from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import type { ShimParts } from './governed-session.ts';
import type { Log } from './log.ts';

interface Box {
  count: number;
}
type Boxes = ReadonlyMap<string, Box>;
export type DecisionLabel = (typeof HUB_DECISIONS)[number];

/** As many as a heartbeat takes. */
const ERROR_TYPES_MAX = 64;

export class Counter {
  serverState: ShimCounts['server_state'] = 'running';
  readonly #agent = boxesFor(HUB_METHODS);
  readonly #server = boxesFor(HUB_METHODS);
  readonly #decisions = boxesFor(HUB_DECISIONS);
  readonly #errors = new Map<string, Box>();
  readonly #approvals = { count: 0, waited_ms: 0 };

  message(from: Side, method: string): void {
    bump(from === 'agent' ? this.#agent : this.#server, method);
  }

  decision(label: DecisionLabel): void {
    bump(this.#decisions, label);
  }

  report({ what, reason }: Report): void {
    if (what === 'NOTICED') return;
    const box = this.#errors.get(reason);
    if (box !== undefined) box.count++;
    else if (this.#errors.size < ERROR_TYPES_MAX) this.#errors.set(reason, { count: 1 });
  }

  /** A call has waited for a person. */
  waited(waitedMs: number): void {
    this.#approvals.count++;
    this.#approvals.waited_ms += waitedMs;
  }

  counts(profile: Profile): ShimCounts {
    return {
      profile,
      server_state: this.serverState,
      messages: [
        ...messagesIn('agent_to_server', this.#agent),
        ...messagesIn('server_to_agent', this.#server),
      ],
      decisions: filled(this.#decisions, (decision, count) => ({ decision, count })),
      framing_errors: filled(this.#errors, (error_type, count) => ({ error_type, count })),
      ...(this.#approvals.count > 0 && { approvals: { ...this.#approvals } }),
    };
  }
}

/** A decision in the word of the metrics and the log. */
function labelOf({ action, would }: Decision): DecisionLabel {
  if (action !== 'ALLOW') return 'deny';
  return would === undefined || would.action === 'ALLOW' ? 'forward' : `WOULD_${would.action}`;
}

function boxesFor(labels: readonly string[]): Boxes {
  return new Map(labels.map((label) => [label, { count: 0 }]));
}

function bump(boxes: Boxes, label: string): void {
  const box = boxes.get(label) ?? boxes.get('other');
  if (box !== undefined) box.count++;
}

function messagesIn<D extends string>(direction: D, boxes: Boxes) {
  return filled(boxes, (method, count) => ({ direction, method, count }));
}

/** What has been counted at all. */
function filled<T>(boxes: Boxes, show: (label: string, count: number) => T): readonly T[] {
  return [...boxes].flatMap(([label, { count }]) => (count === 0 ? [] : [show(label, count)]));
}

// The hooks of a session that feed counts and logs. A shim without either has no hooks.

interface Watching {
  readonly parts: Pick<ShimParts, 'hub' | 'profile' | 'redact'>;
  readonly counter: Counter;
  readonly log: Log;
}

/** When the message came in that is being decided, by `performance.now()`. */
export interface Begun {
  atMs: number;
}

type Hooks = Pick<SessionConfig, 'counted' | 'decided'>;

/** Names and ids alone, so that a line holds no secret and fits into a pipe at once. */
const NAME_LENGTH_MAX = 256;
const ID_LENGTH_MAX = 128;
const REASON_LENGTH_MAX = 512;

/** What is to be called, if anything. */
export function hooksOf(watching: Watching, begun: Begun): Hooks {
  const { parts, counter, log } = watching;
  const isCounting = parts.hub !== undefined;
  const isDebug = log.isOn('debug');
  const tellsCalls = log.isOn('info') || (parts.profile === 'development' && log.isOn('warn'));
  return {
    ...((isCounting || isDebug) && {
      counted: (from, method) => {
        counter.message(from, method);
        if (!isDebug) return;
        const direction = from === 'agent' ? 'agent_to_server' : 'server_to_agent';
        log.write('debug', { direction, method: visible(parts.redact(method), NAME_LENGTH_MAX) });
      },
    }),
    ...((isCounting || tellsCalls) && {
      decided: (ref, decision, messageId) => {
        counter.decision(labelOf(decision));
        if (tellsCalls) tellCall(watching, begun, { ref, decision, messageId });
      },
    }),
  };
}

interface LoggedDecision {
  readonly ref: CallRef;
  readonly decision: Decision;
  readonly messageId: string | undefined;
}

/** One line for one call, in the words of the specification. */
function tellCall({ parts, log }: Watching, begun: Begun, decided: LoggedDecision): void {
  const { ref, decision, messageId } = decided;
  // The report of its message tells more.
  if (ref.tool_name === UNREADABLE) return;
  const label = labelOf(decision);
  const would = label.startsWith('WOULD_');
  const level = would ? 'warn' : 'info';
  if (!log.isOn(level)) return;
  const reason = decision.would?.summary ?? decision.summary;
  log.write(level, {
    direction: 'agent_to_server',
    method: 'tools/call',
    // The session has redacted the name already.
    tool: visible(ref.tool_name, NAME_LENGTH_MAX),
    message_id: messageId === undefined ? null : shown(parts, messageId, ID_LENGTH_MAX),
    call_id: ref.call_id,
    governance_decision: label,
    ...(begun.atMs > 0 && { latency_us: Math.round((performance.now() - begun.atMs) * 1_000) }),
    ...(label !== 'forward' && { policy_reason: shown(parts, reason, REASON_LENGTH_MAX) }),
    forwarded: decision.action === 'ALLOW',
  });
}

function shown({ redact }: Watching['parts'], text: string, lengthMax: number): string {
  return visible(redact(text), lengthMax);
}

/** A session that notes when each message of the agent came in. */
export class TimedSession extends Session {
  readonly #begun: Begun;

  constructor(config: SessionConfig, begun: Begun) {
    super(config);
    this.#begun = begun;
  }

  override read(from: Side, bytes: Uint8Array): Message {
    if (from === 'agent') this.#begun.atMs = performance.now();
    return super.read(from, bytes);
  }

  override readHead(from: Side, bytes: Uint8Array): LargeHead {
    if (from === 'agent') this.#begun.atMs = performance.now();
    return super.readHead(from, bytes);
  }
}

// Counts of a shim for the metrics of its hub: plain numbers, no allocation per message.
import {
  type CallRef,
  type Decision,
  type HUB_DECISIONS,
  HUB_METHODS,
  type Profile,
  type ShimCounts,
} from '@subluminal/contracts';
import {
  type LargeHead,
  type Message,
  type Report,
  type Seen,
  Session,
  type SessionConfig,
  type Side,
  UNREADABLE,
} from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import type { SessionParts } from './governed-session.ts';
import type { Log } from './log.ts';

type Counts = Map<string, number>;
export type DecisionLabel = (typeof HUB_DECISIONS)[number];

const METHODS: ReadonlySet<string> = new Set(HUB_METHODS);
/** As many as a heartbeat takes. */
const ERROR_TYPES_MAX = 64;

export class Counter {
  serverState: ShimCounts['server_state'] = 'running';
  readonly #agent: Counts = new Map();
  readonly #server: Counts = new Map();
  readonly #decisions: Counts = new Map();
  readonly #errors: Counts = new Map();
  readonly #approvals = { count: 0, waited_ms: 0 };

  message(from: Side, method: string): void {
    bump(from === 'agent' ? this.#agent : this.#server, METHODS.has(method) ? method : 'other');
  }

  decision(label: DecisionLabel): void {
    bump(this.#decisions, label);
  }

  report({ what, reason }: Report): void {
    const hasRoom = this.#errors.size < ERROR_TYPES_MAX || this.#errors.has(reason);
    if (what !== 'NOTICED' && hasRoom) bump(this.#errors, reason);
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
      decisions: [...this.#decisions].map(([decision, count]) => ({ decision, count })),
      framing_errors: [...this.#errors].map(([error_type, count]) => ({ error_type, count })),
      ...(this.#approvals.count > 0 && { approvals: { ...this.#approvals } }),
    };
  }
}

/** The label of a decision in the metrics and the log. */
function labelOf({ action, would }: Decision): DecisionLabel {
  if (action !== 'ALLOW') return 'deny';
  return would === undefined || would.action === 'ALLOW' ? 'forward' : `WOULD_${would.action}`;
}

function bump(counts: Counts, label: string): void {
  counts.set(label, (counts.get(label) ?? 0) + 1);
}

function messagesIn<D extends string>(direction: D, counts: Counts) {
  return [...counts].map(([method, count]) => ({ direction, method, count }));
}

// The hooks of a session that feed the counts and the log.

interface Watching {
  readonly parts: Pick<SessionParts, 'hub' | 'profile' | 'redact'>;
  readonly counter: Counter;
  readonly log: Log;
}

/** When the current message came in, by `performance.now()`. */
export interface Begun {
  atMs: number;
}

type Hooks = Pick<SessionConfig, 'counted' | 'decided'>;

/** Names and ids alone, so that a line holds no secret and fits into a pipe at once. */
const NAME_LENGTH_MAX = 256;
const ID_LENGTH_MAX = 128;
const REASON_LENGTH_MAX = 512;

/** The hooks that are needed, if any. */
export function hooksOf(watching: Watching, begun: Begun): Hooks {
  const { parts, counter, log } = watching;
  const isCounting = parts.hub !== undefined;
  const isDebug = log.isOn('debug');
  const logsCalls = log.isOn('info') || (parts.profile === 'development' && log.isOn('warn'));
  return {
    ...((isCounting || isDebug) && {
      counted: (from, method) => {
        counter.message(from, method);
        if (!isDebug) return;
        const direction = from === 'agent' ? 'agent_to_server' : 'server_to_agent';
        log.write('debug', { direction, method: visible(parts.redact(method), NAME_LENGTH_MAX) });
      },
    }),
    ...((isCounting || logsCalls) && {
      decided: (ref, decision, messageId) => {
        counter.decision(labelOf(decision));
        if (logsCalls) logCall(watching, begun, { ref, decision, messageId });
      },
    }),
  };
}

interface LoggedDecision {
  readonly ref: CallRef;
  readonly decision: Decision;
  readonly messageId: string | undefined;
}

/** Writes one line for one call, with the field names of the specification. */
function logCall({ parts, log }: Watching, begun: Begun, decided: LoggedDecision): void {
  const { ref, decision, messageId } = decided;
  // The report about its message says more.
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

  override read(from: Side, bytes: Uint8Array, known?: Seen): Message {
    if (from === 'agent') this.#begun.atMs = performance.now();
    return super.read(from, bytes, known);
  }

  override readHead(from: Side, bytes: Uint8Array): LargeHead {
    if (from === 'agent') this.#begun.atMs = performance.now();
    return super.readHead(from, bytes);
  }
}

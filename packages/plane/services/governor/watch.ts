// What counts and logs hear of a session. Who wants neither pays nothing.
import type { CallRef, Decision } from '@subluminal/contracts';
import { type Session, type SessionConfig, UNREADABLE } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { type Counter, labelOf } from './counts.ts';
import type { ShimParts } from './governed-session.ts';
import type { Log } from './log.ts';

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

interface Decided {
  readonly ref: CallRef;
  readonly decision: Decision;
  readonly messageId: string | undefined;
}

/** One line for one call, in the words of the specification. */
function tellCall({ parts, log }: Watching, begun: Begun, decided: Decided): void {
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

/** The session, noting when each message of the agent came in. */
export function timed(session: Session, begun: Begun): Session {
  return {
    ...session,
    read(from, bytes) {
      if (from === 'agent') begun.atMs = performance.now();
      return session.read(from, bytes);
    },
    readHead(from, bytes) {
      if (from === 'agent') begun.atMs = performance.now();
      return session.readHead(from, bytes);
    },
  };
}

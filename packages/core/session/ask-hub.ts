// Which calls the hub of the run decides, and what its answers mean here.

import type { Decision } from '@subluminal/contracts';
import { spared } from '../policy/decide/verdict.ts';
import type { Call } from '../policy/index.ts';
import { countedWhere } from '../policy/leases/counted-where.ts';
import type { Context, MessageStep } from './context.ts';
import type { Judgement } from './decide-call.ts';
import { mergeNotes } from './gate-notes.ts';
import type { HubAnswer, HubQuestion } from './types.ts';

const UNANSWERED = 'The hub of this run, which counts for all of its servers, could not be asked.';
/** Without a run, only Cedar makes a server need a hub. */
const RUNLESS =
  'Cedar policies are configured, and only a run can ask them: start the agent with `sub run` or `sub wrap`.';

/**
 * Which rules can match follows from the names alone, so each counter is kept in one place only. A hub
 * with gates of its own decides every call; it also counts for the limits of a manifest. A call whose
 * shared counters can be leased is decided here.
 */
export function asksHub({ config, snapshot, guard }: Context, call: Call): boolean {
  const isTool = call.subject === undefined;
  if (config.hubNeeds?.asksAlways === true && isTool) return true;
  if (config.hub !== true) return false;
  if (isTool && guard?.isLimited?.(call.tool_name) === true) return true;
  const { kind } = countedWhere(snapshot, call);
  return kind === 'together' || (kind === 'leased' && config.leases !== true);
}

/** The limits of the manifest that the hub must count this call for. */
export function limitsFor(
  { context: { guard }, nowMs }: MessageStep,
  call: Call,
): HubQuestion['limits'] {
  if (guard?.isLimited?.(call.tool_name) !== true) return undefined;
  const seen = {
    tool: call.tool_name,
    get args() {
      return call.args;
    },
  };
  return guard.limits?.(seen, nowMs);
}

/** The decision of the hub on a call. Without one, the profile decides. */
export function outcomeAtHub({ context, answers }: MessageStep, callId: string): Judgement {
  return hubOutcome(context, answers?.find((answer) => answer.callId === callId)?.outcome);
}

export function hubOutcome(context: Context, outcome: HubAnswer['outcome']): Judgement {
  const { state, enforcing, config } = context;
  if (outcome !== undefined) {
    const { decision, trace, risk_class, limit } = outcome;
    const content = outcome.content && mergeNotes([outcome.content]);
    return { decision, state, trace, risk_class, content, limit };
  }
  const refused: Decision = {
    action: 'BLOCK',
    rule_id: null,
    severity: enforcing ? 'critical' : 'warn',
    reason_code: 'HUB_UNAVAILABLE',
    summary: config.hub === true ? UNANSWERED : RUNLESS,
  };
  return { decision: enforcing ? refused : spared(refused), state, trace: [], risk_class: [] };
}

// Which calls the hub of the run decides, and what its answers mean here.

import type { Decision } from '@subluminal/contracts';
import { candidatesFor, type Snapshot } from '../policy/compile/snapshot.ts';
import type { Call, Outcome, PolicyState } from '../policy/index.ts';
import { countsAcrossServers } from '../policy/rules/index.ts';
import type { Context, MessageStep } from './context.ts';
import type { Judgement } from './decide-call.ts';
import { mergeNotes } from './gate-notes.ts';
import type { HubAnswer, HubQuestion } from './types.ts';

const UNANSWERED = {
  rule_id: null,
  reason_code: 'HUB_UNAVAILABLE',
  summary: 'The hub of this run, which counts for all of its servers, could not be asked.',
} as const;
/** Of what only a hub can ask, a server without any run is told by its configuration: Cedar. */
const RUNLESS = {
  ...UNANSWERED,
  summary:
    'Cedar policies are configured, and only a run can ask them: start the agent with `sub run` or `sub wrap`.',
} as const;

/**
 * Which rules can match follows from the names alone, so a counter is kept in one place only. Where
 * the hub has gates of its own, it decides every call; it also counts for the limits of a manifest.
 */
export function asksHub(
  { config, snapshot, guard }: Context,
  { server_name, tool_name }: Call,
): boolean {
  if (config.hubNeeds?.asksAlways === true) return true;
  if (config.hub !== true) return false;
  if (guard?.isLimited?.(tool_name) === true) return true;
  const { tightenedBy } = snapshot;
  const counts = (policy: Snapshot): boolean =>
    candidatesFor(policy, server_name, tool_name).some(({ rule }) => countsAcrossServers(rule));
  return counts(snapshot) || (tightenedBy !== undefined && counts(tightenedBy));
}

/** The limits of the manifest that the hub must count this call for. */
export function limitsFor(
  { guard }: Context,
  { nowMs }: MessageStep,
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

/** What the hub decided about a call. Where it said nothing, the profile decides. */
export function outcomeAtHub(
  context: Context,
  { answers }: MessageStep,
  callId: string,
): Judgement {
  return hubOutcome(context, answers?.find((answer) => answer.callId === callId)?.outcome);
}

export function hubOutcome(context: Context, outcome: HubAnswer['outcome']): Judgement {
  if (outcome === undefined) return unanswered(context);
  const { content, ...said } = outcome;
  const judged = { ...said, state: context.state };
  return content === undefined ? judged : { ...judged, content: mergeNotes([content]) };
}

function unanswered({ state, enforcing, config }: Context): Outcome<PolicyState> {
  const why = config.hub === true ? UNANSWERED : RUNLESS;
  const decision: Decision = enforcing
    ? { action: 'BLOCK', severity: 'critical', ...why }
    : {
        action: 'ALLOW',
        rule_id: null,
        severity: 'warn',
        reason_code: 'WOULD_BLOCK',
        summary: `Would be refused: ${why.summary}`,
        would: { action: 'BLOCK', ...why },
      };
  return { decision, state, trace: [], risk_class: [] };
}

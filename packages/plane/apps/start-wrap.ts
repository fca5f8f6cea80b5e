// `sub wrap`: a run whose agent finds its servers behind shims.
import { randomBytes } from 'node:crypto';
import type { WrapOptions, WrapPlan } from '../services/clients/wrap/plan-wrap.ts';
import { wrapSession } from '../services/clients/wrap/wrap-session.ts';
import type { RunOptions, RunResult } from '../services/run/options.ts';
import { startRun } from './start-run.ts';

export interface WrapResult {
  readonly run: RunResult;
  /** False when a config could not be restored; a message says so. */
  readonly isRestored: boolean;
}

const TOKEN_BYTES = 32;
/** A launcher that hands over to a window ends at once. */
const HANDED_OVER_MS = 5_000;

export async function startWrap(plan: WrapPlan, options: WrapOptions): Promise<WrapResult> {
  const { port, run } = options;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const listening = { ...run, ...(port !== undefined && { listen: { port, token } }) };
  for (const warning of plan.warnings) run.tell(warning);
  const session = wrapSession(plan, { ...options, run: listening });
  const result = await startRun({ ...listening, identity: identityOf(plan, options), session });
  if (plan.client.hasWindow && isHandedOver(result, session.agentMs())) {
    run.tell(
      `the agent ended at once, and none of its servers started: if it handed over to a window that is already open, use \`sub import ${plan.client.id}\` instead.`,
    );
  }
  return { run: result, isRestored: session.isRestored() };
}

/** A type that was given is the word of the user; one that was found weighs less than SUB_CLIENT. */
function identityOf({ client }: WrapPlan, options: WrapOptions): RunOptions['identity'] {
  const { identity, env } = options.run;
  const isTold =
    identity.client !== undefined || (options.client === undefined && env['SUB_CLIENT']);
  return isTold || client.eventName === undefined
    ? identity
    : { ...identity, client: client.eventName };
}

function isHandedOver(result: RunResult, agentMs: number | undefined): boolean {
  if (result.kind !== 'ended' || agentMs === undefined) return false;
  return result.agent.code === 0 && result.shims === 0 && agentMs < HANDED_OVER_MS;
}

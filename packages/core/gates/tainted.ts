// Taint of one server, where no hub keeps it for the whole run.
import type { ContentNote, GuardedCall } from '../session/guard.ts';
import { judgeTaint, observe, recordCall } from '../taint/index.ts';
import type { Memory } from './guard-memory.ts';
import type { Stop } from './verdicts.ts';

interface TaintStops {
  readonly stops: readonly Stop[];
  readonly note?: ContentNote | undefined;
}

/** The objections of taint to a call. */
export function taintStops({ options, taint }: Memory, call: GuardedCall): TaintStops {
  const { taint: policy, server, enforces } = options;
  if (policy === undefined) return { stops: [] };
  const { tool } = call;
  const judged = judgeTaint(
    taint,
    {
      server,
      tool,
      // Parsed on first use: only where something was read that could be in them.
      get args() {
        return call.args;
      },
      get beside() {
        return call.envelope?.rest;
      },
    },
    policy,
  );
  const { objections, findings } = judged;
  if (findings.length === 0) return { stops: [] };
  const enforced = enforces.content;
  const stops = objections.map(({ ruleId: rule, how, hint: advice, reason_code, summary }) => {
    const answer =
      how === 'ask' ? { approval: policy.approval } : { severity: 'critical' as const };
    return { rule, enforced, reason_code, summary, advice, ...answer };
  });
  const action = objections.some(({ how }) => how === 'block') ? 'block' : 'ask';
  const isTagged = stops.length === 0 || !enforced;
  return { stops, note: { action: isTagged ? 'tag' : action, findings } };
}

/** The call goes to the server. */
export function taintPassed(memory: Memory, call: GuardedCall): void {
  const { taint: policy, server } = memory.options;
  if (policy === undefined) return;
  const { tool, callId, args, envelope } = call;
  const beside = envelope?.rest;
  memory.taint = recordCall(memory.taint, { server, tool, callId, args, beside }, policy);
}

interface ReadContent {
  readonly tool: string;
  readonly callId: string;
  readonly content: unknown;
  /** Not all of it could be scanned. */
  readonly partial?: boolean;
}

/** The agent reads an answer. */
export function taintRead(memory: Memory, { tool, callId, content, partial }: ReadContent): void {
  const { taint: policy, server } = memory.options;
  if (policy === undefined) return;
  const trust = policy.trustOf({ server, tool });
  memory.taint = observe(memory.taint, {
    server,
    tool,
    callId,
    trust,
    content,
    partial: partial === true,
  });
}

// Taint of one server, where nobody keeps it for the whole run.
import type { ContentNote, GuardedCall } from '../session/guard.ts';
import {
  checkCall,
  observe,
  RULE_OF_TWO_HINT,
  recordCall,
  ruleOfTwo,
  ruleOfTwoSummary,
  TAINT_HINT,
  type TaintFinding,
  type TaintPolicy,
  taintSummary,
} from '../taint/index.ts';
import type { Memory } from './memory.ts';
import type { Stop } from './verdicts.ts';

interface Tainted {
  readonly stops: readonly Stop[];
  readonly note?: ContentNote | undefined;
}

const NOTHING: Tainted = { stops: [] };

/** What taint has against a call. */
export function taintStops(memory: Memory, call: GuardedCall): Tainted {
  const { taint: policy, enforces } = memory.options;
  if (policy === undefined) return NOTHING;
  const sink = sinkStop(memory, policy, call);
  const third = thirdStop(memory, policy, call);
  const stops = [sink.stop, third].filter((stop) => stop !== undefined);
  const findings = [
    ...sink.findings.map((finding) => `taint:${finding.sink}`),
    ...(third === undefined ? [] : ['taint:rule_of_two']),
  ];
  if (findings.length === 0) return NOTHING;
  const action = stops.some(({ approval }) => approval === undefined) ? 'block' : 'ask';
  return {
    stops,
    note: { action: stops.length === 0 || !enforces.content ? 'tag' : action, findings },
  };
}

interface SinkStop {
  readonly stop: Stop | undefined;
  readonly findings: readonly TaintFinding[];
}

function sinkStop({ options, taint }: Memory, policy: TaintPolicy, call: GuardedCall): SinkStop {
  const none: SinkStop = { stop: undefined, findings: [] };
  // Arguments are parsed on first use: nothing was read yet that could be in them.
  if (taint.untrustedCount === 0 && taint.blind === undefined) return none;
  const { args, tool, envelope } = call;
  const { server, enforces } = options;
  const beside = envelope?.rest;
  const checked = { server, tool, ...(args !== undefined && { args }), beside };
  const verdict = checkCall(taint, checked, policy);
  if (verdict.verdict === 'clean') return none;
  const { findings } = verdict;
  if (policy.onTaint === 'tag') return { stop: undefined, findings };
  const stop: Stop = {
    rule: 'gate:taint',
    enforced: enforces.content,
    reason_code: 'TAINTED_SINK',
    summary: taintSummary(verdict),
    advice: TAINT_HINT,
    ...(policy.onTaint === 'ask' ? { approval: policy.approval } : { severity: 'critical' }),
  };
  return { stop, findings };
}

function thirdStop(
  { options, taint }: Memory,
  policy: TaintPolicy,
  { tool }: GuardedCall,
): Stop | undefined {
  if (policy.ruleOfTwo === 'off') return undefined;
  const { server, enforces } = options;
  const verdict = ruleOfTwo(taint, { server, tool }, policy);
  if (verdict.verdict === 'within') return undefined;
  return {
    rule: 'gate:rule-of-two',
    enforced: enforces.content,
    reason_code: 'RULE_OF_TWO',
    summary: ruleOfTwoSummary(verdict),
    advice: RULE_OF_TWO_HINT,
    ...(policy.ruleOfTwo === 'ask' ? { approval: policy.approval } : { severity: 'critical' }),
  };
}

/** The call goes to the server. */
export function taintPassed(memory: Memory, call: GuardedCall): void {
  const { taint: policy, server } = memory.options;
  if (policy === undefined) return;
  const { tool, callId, args } = call;
  memory.taint = recordCall(memory.taint, { server, tool, callId, args }, policy);
}

interface Read {
  readonly tool: string;
  readonly callId: string;
  readonly content: unknown;
  /** Nobody could look at all of it. */
  readonly partial?: boolean;
}

/** The agent reads an answer. */
export function taintRead(memory: Memory, { tool, callId, content, partial = false }: Read): void {
  const { taint: policy, server } = memory.options;
  if (policy === undefined) return;
  const trust = policy.trustOf({ server, tool });
  memory.taint = observe(memory.taint, { server, tool, callId, trust, content, partial });
}

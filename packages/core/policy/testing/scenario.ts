// Short ways to write policies and calls, for tests only.
import {
  type Bundle,
  check,
  type JsonObject,
  type Match,
  type Rule,
  type RuleOf,
} from '@subluminal/contracts';
import { type CompileOptions, compileBundle, type Snapshot } from '../compile/snapshot.ts';
import { tableSize } from '../counters/table.ts';
import { decide, recordResult } from '../decide/decide.ts';
import { initialState, type PolicyState } from '../decide/verdict.ts';
import type { Call, CallResult, Outcome } from '../model/call.ts';
import type { RuleSlot } from '../rule-kind/rule-kind.ts';

type Options = Partial<Omit<Bundle, 'rules'>> & Pick<CompileOptions, 'profile' | 'paths'>;
type Budget = RuleOf<'budget'>['effect']['budget'];
type RateLimit = RuleOf<'rate_limit'>['effect']['rate_limit'];
type Breaker = RuleOf<'breaker'>['effect']['breaker'];
type Dedupe = RuleOf<'dedupe'>['effect']['dedupe'];

export const IDENTITY = { run_id: 'run', agent_id: 'agent', client: 'client', env: 'dev' };

export function bundleOf(
  rules: readonly Rule[],
  options: Omit<Options, 'profile' | 'paths'> = {},
): Bundle {
  return {
    policy_id: 'tests',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules,
    ...options,
  };
}

export function snapshotOf(rules: readonly Rule[], options: Options = {}): Promise<Snapshot> {
  const { profile = 'production', paths, ...rest } = options;
  return compileBundle(bundleOf(rules, rest), { sha256: lengthHash, profile, paths });
}

/** Good enough where nobody looks at the hash. */
function lengthHash(text: string): string {
  return text.length.toString(16).padStart(64, '0');
}

const FRAME = { enabled: true, match: {}, severity: 'warn' } as const;

export function allow(rule_id: string, match: Match = {}): Rule {
  return { ...FRAME, rule_id, kind: 'allow', match, effect: { action: 'ALLOW' } };
}

export function deny(rule_id: string, match: Match = {}, when?: string): Rule {
  const effect = { action: 'BLOCK' } as const;
  return { ...FRAME, rule_id, kind: 'deny', match, effect, ...(when !== undefined && { when }) };
}

export function budget(rule_id: string, limits: Partial<Budget>): RuleOf<'budget'> {
  const effect = { budget: { scope: 'run', on_exceed: 'BLOCK', ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'budget', effect };
}

export function rateLimit(rule_id: string, limits: Partial<RateLimit>): RuleOf<'rate_limit'> {
  const bucket = { capacity: 1, refill_tokens: 1, refill_period_ms: 1_000 } as const;
  const effect = { rate_limit: { scope: 'run', on_limit: 'BLOCK', ...bucket, ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'rate_limit', effect };
}

export function breaker(rule_id: string, limits: Partial<Breaker>): RuleOf<'breaker'> {
  const effect = { breaker: { scope: 'run', on_trip: 'BLOCK', ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'breaker', effect };
}

export function dedupe(rule_id: string, limits: Partial<Dedupe>): RuleOf<'dedupe'> {
  const window = { window_ms: 1_000, key: 'args_hash', on_duplicate: 'BLOCK' } as const;
  const effect = { dedupe: { scope: 'server_tool', ...window, ...limits } } as const;
  return { ...FRAME, rule_id, kind: 'dedupe', effect };
}

export function callOf(parts: Partial<Call> = {}): Call {
  return {
    identity: IDENTITY,
    server_name: 'server',
    tool_name: 'tool',
    args_hash: 'hash',
    args: {},
    bytes_in: 2,
    ...parts,
  };
}

/** Reads arguments from JSON text, so that keys like `__proto__` can be written. */
export function jsonObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value)) return value;
  throw new Error(`no JSON object: ${text}`);
}

function isJsonObject(value: unknown): value is JsonObject {
  return check({ kind: 'record', values: { kind: 'json' } }, value).length === 0;
}

/** One run under one policy, that goes on from the state of the last call. */
export interface Run {
  state: PolicyState;
  call(parts: Partial<Call>, nowMs: number, result?: CallResult): Outcome<PolicyState>;
}

export function runOf(snapshot: Snapshot): Run {
  const run: Run = {
    state: initialState(snapshot),
    call(parts, nowMs, result) {
      const call = callOf(parts);
      const outcome = decide(snapshot, call, run.state, nowMs);
      run.state = outcome.state;
      if (result !== undefined) {
        run.state = recordResult(
          snapshot,
          { call, result, trace: outcome.trace, nowMs },
          run.state,
        );
      }
      return outcome;
    },
  };
  return run;
}

/** How many entries a rule holds, over all its tables. */
export function slotSize(slot: RuleSlot): number {
  return Object.values(slot).reduce((sum, table) => sum + tableSize(table), 0);
}

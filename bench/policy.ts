// `npm run bench -- policy`: what one decision costs, beside a bare loop over the same calls. What
// the hash of its arguments costs is told by `npm run bench -- canon`.
import type { Bundle, Rule } from '@subluminal/contracts';
import { type Call, compileBundle, decide, initialState } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { goalLine, measure, readBenchOptions, report } from './measure.ts';

const CALLS = 10_000;
const TOOLS = 50;
const SERVERS = 3;
const SCOPES = ['run', 'tool', 'server_tool'] as const;
const DECIDE_P99_GOAL_US = 20;
const FLOOR = 'bare loop';

/**
 * A hundred rules, twenty of them stateful. With `everywhere`, all twenty count every call; else
 * they are spread over the tools as people write them, with a few that count everything.
 */
function bundleOf(everywhere: boolean): Bundle {
  const rules = Array.from({ length: 100 }, (_, index) =>
    index % 5 === 4 ? statefulRule(index, everywhere) : plainRule(index),
  );
  return {
    policy_id: 'bench',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: { env: ['dev', 'ci'] },
    rules,
  };
}

function plainRule(index: number): Rule {
  const base = { rule_id: `rule-${index}`, enabled: true, severity: 'warn' } as const;
  const effect = { action: 'BLOCK' } as const;
  switch (index % 5) {
    case 0: {
      const args = { numeric_range: { limit: { min: 1_000 + index } } };
      return { ...base, kind: 'deny', match: { args }, effect };
    }
    case 1: {
      const match = { tool_name: { glob: [`tool_${index % TOOLS}`, `*_${index}`] } };
      return { ...base, kind: 'tag', match, effect: { tag: { add_risk_class: ['write_like'] } } };
    }
    case 2: {
      const match = { tool_name: { regex: [`^drop_${index}(_all)?$`] } };
      return { ...base, kind: 'deny', match, effect };
    }
    default: {
      const match = { tool_name: { glob: [`*_${index % 10}`] }, args: { has_keys: ['force'] } };
      return { ...base, kind: 'deny', match, effect };
    }
  }
}

function statefulRule(index: number, everywhere: boolean): Rule {
  const base = { rule_id: `rule-${index}`, enabled: true, severity: 'warn' } as const;
  const scope = SCOPES[index % SCOPES.length] ?? 'run';
  const match = everywhere || index < 20 ? {} : { tool_name: { glob: [`*_${index % 10}`] } };
  switch (Math.floor(index / 5) % 4) {
    case 0: {
      const budget = { scope, limit_calls: 1_000_000_000, on_exceed: 'BLOCK' } as const;
      return { ...base, kind: 'budget', match, effect: { budget } };
    }
    case 1: {
      const bucket = { capacity: 1_000_000, refill_tokens: 1_000_000, refill_period_ms: 1_000 };
      const effect = { rate_limit: { scope, ...bucket, on_limit: 'BLOCK' } } as const;
      return { ...base, kind: 'rate_limit', match, effect };
    }
    case 2: {
      const errors = { error_threshold: 10, window_ms: 10_000 };
      const repeats = { repeat_threshold: 100, repeat_window_ms: 10_000 };
      const effect = { breaker: { scope, ...errors, ...repeats, on_trip: 'BLOCK' } } as const;
      return { ...base, kind: 'breaker', match, effect };
    }
    default: {
      const dedupe = { scope, window_ms: 100, key: 'args_hash', on_duplicate: 'BLOCK' } as const;
      return { ...base, kind: 'dedupe', match, effect: { dedupe } };
    }
  }
}

function callsOf(count: number): readonly Call[] {
  const identity = { run_id: 'run', agent_id: 'agent', client: 'claude', env: 'dev' };
  return Array.from({ length: count }, (_, index) => ({
    identity,
    server_name: `server_${index % SERVERS}`,
    tool_name: `tool_${index % TOOLS}`,
    args_hash: sha256(String(index)),
    args: { limit: index % 100, path: '/src/index.ts', query: 'select' },
    bytes_in: 200,
  }));
}

/** One decision after another, each with the state that the last one returned. */
async function decider(bundle: Bundle, calls: readonly Call[]): Promise<(index: number) => string> {
  const snapshot = await compileBundle(bundle, { sha256 });
  let state = initialState(snapshot);
  return (index) => {
    const call = calls[index % calls.length];
    if (call === undefined) return '';
    const outcome = decide(snapshot, call, state, index);
    state = outcome.state;
    return outcome.decision.action;
  };
}

const BUNDLES = [
  { name: 'decide, 20 stateful rules spread over the tools', everywhere: false },
  { name: 'decide, 20 stateful rules count every call', everywhere: true },
];

/** Each bundle beside the bare loop, and apart from the other: their garbage would be shared. */
export async function run(args: readonly string[]): Promise<void> {
  const options = readBenchOptions(args);
  const calls = callsOf(CALLS);
  const floor = { name: FLOOR, run: (index: number) => calls[index % calls.length]?.tool_name };
  for (const { name, everywhere } of BUNDLES) {
    const contestants = [floor, { name, run: await decider(bundleOf(everywhere), calls) }];
    const measured = measure(contestants, { ...options, warmup: 2 * CALLS });
    const title = `decide, 100 rules, one call (goal: p99 ≤ ${DECIDE_P99_GOAL_US} µs)`;
    process.stdout.write(report(measured, { title, floor: FLOOR, json: options.json }));
    const p99Ns = measured.timings.find((timing) => timing.name === name)?.p99Ns ?? Number.NaN;
    if (options.json) continue;
    process.stdout.write(goalLine(`${name}: p99 in µs`, p99Ns / 1_000, DECIDE_P99_GOAL_US));
  }
}

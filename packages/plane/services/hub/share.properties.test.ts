import { decide, initialState } from '@subluminal/core/policy';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import { Crew } from './testing/crew.ts';
import { budget, HASH, policyOf, RUN, requestOf, type SealedPolicy } from './testing/scenario.ts';

const TOOLS = ['read', 'write', 'list'] as const;
const madeCalls = fc.array(fc.constantFrom(...TOOLS), { maxLength: 12 });

/** What each counter stands at when the calls come one after the other. */
function sequentially(policy: SealedPolicy, tools: readonly string[]): readonly unknown[] {
  let state = initialState(policy.snapshot);
  const tally = (tool_name: string) => {
    const identity = { run_id: RUN, agent_id: 'agent', client: 'custom', env: 'dev' };
    const call = {
      identity,
      server_name: 'server',
      tool_name,
      args_hash: HASH,
      args: {},
      bytes_in: 2,
    };
    const outcome = decide(policy.snapshot, call, state, 0);
    state = outcome.state;
    return outcome.trace.map((step) => step.tally);
  };
  for (const tool of tools) tally(tool);
  return TOOLS.map(tally);
}

describe('the counts of the shims of a run', () => {
  it('is the same as if one had made all their calls, however they interleave', async () => {
    const limits = fc.record({ all: fc.nat({ max: 40 }), each: fc.nat({ max: 15 }) });
    const shims = fc.array(madeCalls, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(shims, limits, async (perShim, { all, each }) => {
        const crew = new Crew();
        try {
          await crew.hub();
          const rules = [
            budget('all', { limit_calls: all }),
            budget('each', { limit_calls: each, scope: 'tool' }),
          ];
          const policy = await policyOf(rules);
          const asking = perShim.flatMap((tools, index) => {
            const client = crew.client({ shimId: `shim-${index}` });
            return tools.map((tool_name) =>
              client.evaluate(requestOf(policy, { tool_name }), () => policy.file),
            );
          });
          for (const evaluated of await Promise.all(asking)) expect(evaluated.kind).toBe('answer');
          const last = crew.client();
          const tallies: unknown[] = [];
          for (const tool_name of TOOLS) {
            const asked = requestOf(policy, { tool_name });
            const evaluated = await last.evaluate(asked, () => policy.file);
            if (evaluated.kind !== 'answer') throw new Error(evaluated.reason);
            tallies.push(evaluated.response.trace?.map((step) => step.tally));
          }
          expect(tallies).toEqual(sequentially(policy, perShim.flat()));
        } finally {
          await crew.end();
        }
      }),
      { numRuns: 25 },
    );
  });

  it('is exact whichever versions of a policy they work by, and however often they ask again', async () => {
    const old = await policyOf([
      budget('both', { limit_calls: 9 }),
      budget('old', { limit_calls: 4 }),
    ]);
    const changed = await policyOf(
      [budget('new', { limit_calls: 3 }), budget('both', { limit_calls: 9 })],
      { version: '2' },
    );
    const steps = fc.array(
      fc.record({ isOld: fc.boolean(), again: fc.nat({ max: 2 }), evicts: fc.boolean() }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const hub = new Hub({ runId: RUN, nowMs: () => 0, sha256, limits: { policiesMax: 2 } });
        const other = await policyOf([], { policy_id: 'other' });
        const left = new Map([
          ['both', 9],
          ['old', 4],
          ['new', 3],
        ]);
        for (const { isOld, again, evicts } of taken) {
          if (evicts) await hub.policy(other.file);
          const policy = isOld ? old : changed;
          await hub.policy(policy.file);
          const request = requestOf(policy);
          const answers = Array.from({ length: 1 + again }, () => hub.evaluate(request));
          // Each budget counts what it does not stop itself, and all must let the call pass.
          const passes = (isOld ? ['both', 'old'] : ['new', 'both']).map((rule) => {
            const calls = left.get(rule) ?? 0;
            left.set(rule, Math.max(0, calls - 1));
            return calls > 0;
          });
          const decision = passes.every(Boolean) ? 'forward' : 'deny';
          for (const answer of answers) expect(answer).toMatchObject({ decision });
        }
      }),
      { numRuns: 100 },
    );
  });
});

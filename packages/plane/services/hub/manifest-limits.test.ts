// The limits of manifests: counted once for all shims of a server, whenever they started.
import type { EvaluateRequest, EvaluateResponse, Rule } from '@subluminal/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import { budget, policyOf, RUN, requestOf, type SealedPolicy } from './testing/scenario.ts';

const TWO = [{ key: 'tool search', calls: 2, period_ms: 60_000 }];
const DEDUPE: Rule = {
  rule_id: 'twice',
  kind: 'dedupe',
  enabled: true,
  match: {},
  severity: 'warn',
  effect: {
    dedupe: { scope: 'tool', window_ms: 600_000, key: 'args_hash', on_duplicate: 'BLOCK' },
  },
};

let nowMs = 0;
beforeEach(() => {
  nowMs = 1_000;
});

async function hubWith(rules: readonly Rule[]): Promise<[Hub, SealedPolicy]> {
  const hub = new Hub({ runId: RUN, nowMs: () => nowMs, sha256 });
  const policy = await policyOf(rules, { mode: 'control' });
  await hub.policy(policy.file);
  return [hub, policy];
}

function ask(hub: Hub, request: EvaluateRequest): EvaluateResponse {
  const reply = hub.evaluate(request);
  if ('kind' in reply) throw new Error(reply.message);
  return reply;
}

describe('a limit of a manifest', () => {
  it('is counted for a server, whichever shim asks', async () => {
    const [hub, policy] = await hubWith([]);
    const asked = () => ask(hub, requestOf(policy, { limits: TWO }));
    expect([asked(), asked()]).toMatchObject([{ limits_counted: true }, { limits_counted: true }]);
    expect(asked()).toMatchObject({
      decision: 'forward',
      limit_wait: { kind: 'rate', wait_ms: 30_000, words: '2 calls in 60 s' },
    });
    const other = ask(hub, requestOf(policy, { limits: TWO, server_id: 'another' }));
    expect(other.limits_counted).toBe(true);
    nowMs += 30_000;
    expect(asked().limits_counted).toBe(true);
  });

  it('is not used up by a call that is refused, nor by one that is asked about twice', async () => {
    const [hub, policy] = await hubWith([budget('none', { limit_calls: 1 })]);
    const first = requestOf(policy, { limits: TWO });
    expect(ask(hub, first).limits_counted).toBe(true);
    expect(ask(hub, first).limits_counted).toBe(true);
    const refused = ask(hub, requestOf(policy, { limits: TWO }));
    expect(refused.decision).toBe('deny');
    expect(refused).not.toHaveProperty('limits_counted');
    const [bare, none] = await hubWith([]);
    expect(ask(bare, requestOf(none))).not.toHaveProperty('limits_counted');
  });

  it('that stops a call leaves no mark of it: its retry is no repeat', async () => {
    const [hub, policy] = await hubWith([DEDUPE]);
    const limits = [{ key: 'tool search', cooldown_ms: 5_000 }];
    const args_hash = (digit: string) => digit.repeat(64);
    expect(ask(hub, requestOf(policy, { limits, args_hash: args_hash('a') })).limits_counted).toBe(
      true,
    );
    const stopped = ask(hub, requestOf(policy, { limits, args_hash: args_hash('b') }));
    expect(stopped.limit_wait).toMatchObject({ kind: 'cooldown', wait_ms: 5_000 });
    nowMs += 5_000;
    const retried = ask(hub, requestOf(policy, { limits, args_hash: args_hash('b') }));
    expect(retried).toMatchObject({ decision: 'forward', limits_counted: true });
  });

  it('finds room, or does not let pass', async () => {
    const [hub, policy] = await hubWith([]);
    const one = (key: string) =>
      ask(hub, requestOf(policy, { limits: [{ key, calls: 2, period_ms: 60_000 }] }));
    for (let at = 0; at < 1_000; at++) expect(one(`tool ${at}`).limits_counted).toBe(true);
    expect(one('tool more').limit_wait).toBeDefined();
    expect(one('tool 7').limits_counted).toBe(true);
  });
});

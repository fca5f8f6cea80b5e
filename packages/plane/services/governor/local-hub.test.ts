import type { HubQuestion } from '@subluminal/core/session';
import { expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from '../hub/hub.ts';
import { LeaseShim } from '../hub/testing/lease-shim.ts';
import { budget, HASH, policyOf, RUN } from '../hub/testing/scenario.ts';
import { LocalHub } from './local-hub.ts';

const IDENTITY = { run_id: RUN, agent_id: 'agent', client: 'claude', env: 'dev' } as const;

const SOURCE = { host_id: 'h', proc_id: 'p', shim_id: 's' };

let calls = 0;

function question(): HubQuestion {
  const names = { server_name: 'local', tool_name: 'read', args_hash: HASH };
  const ref = { call_id: `local-${++calls}`, ...names };
  return { ref, call: { ...names, identity: IDENTITY, args: {}, bytes_in: 2 } };
}

it('a session beside the hub gets all calls of a budget that shims hold and do not use', async () => {
  const policy = await policyOf([budget('few', { limit_calls: 20 })]);
  const hub = new Hub({ runId: RUN, nowMs: () => 0, sha256 });
  await hub.policy(policy.file);
  const shim = new LeaseShim(hub, policy, 'shim');
  const delivered = async (): Promise<void> => {
    while (shim.deliverToHub() || shim.deliverToShim()) await new Promise(setImmediate);
  };
  shim.call('read');
  await delivered();
  await delivered();
  expect(shim.passes).toBe(1);
  const producer = { ...IDENTITY, source: SOURCE, profile: 'production' } as const;
  const local = new LocalHub({ hub, serverName: 'local', profile: 'production', producer });
  local.start({
    snapshot: () => policy.snapshot,
    summary: () => {
      throw new Error('not asked for');
    },
    counts: () => {
      throw new Error('not asked for');
    },
    onShutdown: () => {},
    giveUpLeases: () => [],
  });
  let passes = 0;
  for (;;) {
    const asked = [question()];
    const atOnce = local.askNow(asked);
    const later = atOnce ?? local.ask(asked);
    if (atOnce === undefined) {
      await new Promise(setImmediate);
      await delivered();
    }
    const [answer] = await later;
    if (answer?.outcome?.decision.action !== 'ALLOW') break;
    passes++;
  }
  expect(passes + shim.passes).toBe(20);
});

// What a shim makes of the answers of a hub that says what a test wants.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { isFailure } from '@subluminal/contracts';
import type { HubQuestion } from '@subluminal/core/session';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Crew } from '../hub/testing/crew.ts';
import { asFrames } from '../hub/testing/frame-impostor.ts';
import { budget, HASH, policyOf, RUN, summaryOf } from '../hub/testing/scenario.ts';
import { Counter } from './counts.ts';
import { reachHub } from './hub.ts';

const NEEDED = { rule: 'budget few', key: 'run', calls: 1 };
const IDENTITY = { run_id: RUN, agent_id: 'agent', client: 'claude', env: 'dev' } as const;
const NAMES = { server_name: 'files', tool_name: 'read', args_hash: HASH };
const QUESTION: HubQuestion = {
  ref: { call_id: 'call', ...NAMES },
  call: { ...NAMES, identity: IDENTITY, args: {}, bytes_in: 2 },
  leases: [NEEDED],
};

let crew: Crew;
let warnings: string[] = [];

beforeEach(() => {
  crew = new Crew();
  warnings = [];
});

afterEach(() => crew.end());

interface HubScene {
  /** So many leases are refused at first. */
  readonly refusals?: number;
  /** Another policy comes into force while the first lease is asked for. */
  readonly isReloaded?: boolean;
}

/** A shim, and what it gives back to its hub. */
async function linkTo({ refusals = 0, isReloaded = false }: HubScene) {
  let asked = 0;
  const returned: unknown[] = [];
  const [policy, later] = [
    await policyOf([budget('few', { limit_calls: 20 })]),
    await policyOf([budget('other', { limit_calls: 20 })], { version: '2' }),
  ];
  const snapshot = () => (isReloaded && asked > 0 ? later : policy).snapshot;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    crew.atEnd(() => socket.destroy());
    asFrames(({ id, to, body: said }, answering) => {
      if (to === 'return') returned.push(said);
      const isRefused = to === 'lease' && asked++ < refusals;
      const body =
        to === 'lease' ? { shutdown: false, leases: [{ ...NEEDED, calls: 5 }] } : { status: 'ok' };
      const answer = isRefused ? { id, status: 503, body: {} } : { id, status: 200, body };
      answering.write(`${JSON.stringify(answer)}\n`);
    })(socket);
  });
  server.listen(crew.socketPath);
  await once(server, 'listening');
  crew.atEnd(() => server.close());
  const link = reachHub({
    endpoint: `unix:${crew.socketPath}`,
    token: undefined,
    serverName: 'files',
    runId: RUN,
    profile: 'production',
    readyMs: 5_000,
    inspectBytesMax: 1_000_000,
    warn: (text) => warnings.push(text),
  });
  if (isFailure(link)) throw new Error(link.message);
  crew.atEnd(() => link.drop());
  expect(await link.problem).toBeUndefined();
  link.start({
    snapshot,
    summary: () => summaryOf(0),
    counts: () => new Counter().counts('production'),
    onShutdown: () => {},
    giveUpLeases: () => [],
  });
  return { link, returned, policy };
}

it('a lease that the hub does not give is asked for once more', async () => {
  const { link } = await linkTo({ refusals: 1 });
  const [answer] = await link.ask([QUESTION]);
  expect(answer?.leased?.leases).toEqual([{ ...NEEDED, calls: 5 }]);
  expect(warnings).toEqual([]);
});

it('a lease that the hub does not give twice is not there, which is told', async () => {
  const { link } = await linkTo({ refusals: 2 });
  expect(await link.ask([QUESTION])).toEqual([{ callId: 'call', outcome: undefined }]);
  expect(warnings).toEqual([expect.stringContaining('the hub of this run could not be asked')]);
  expect(link.isThere).toBe(false);
});

it('a lease by a policy that is no longer in force goes back, and the question is stale', async () => {
  const { link, returned, policy } = await linkTo({ isReloaded: true });
  expect(await link.ask([QUESTION])).toEqual([
    { callId: 'call', outcome: undefined, isStale: true },
  ]);
  const leases = [{ ...NEEDED, calls: 5 }];
  await expect.poll(() => returned).toEqual([{ policy_hash: policy.hash, leases }]);
  expect(link.isThere).toBe(true);
});

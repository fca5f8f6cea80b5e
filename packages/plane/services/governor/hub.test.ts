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
import { type HubLink, reachHub } from './hub.ts';

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

/** A shim whose hub refuses the first few leases that it is asked for. */
async function linkTo(refusals: number): Promise<HubLink> {
  let asked = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    crew.atEnd(() => socket.destroy());
    asFrames(({ id, to }, answering) => {
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
  const policy = await policyOf([budget('few', { limit_calls: 20 })]);
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
    snapshot: () => policy.snapshot,
    summary: () => summaryOf(0),
    counts: () => new Counter().counts('production'),
    onShutdown: () => {},
    giveUpLeases: () => [],
  });
  return link;
}

it('a lease that the hub does not give is asked for once more', async () => {
  const link = await linkTo(1);
  const [answer] = await link.ask([QUESTION]);
  expect(answer?.leased?.leases).toEqual([{ ...NEEDED, calls: 5 }]);
  expect(warnings).toEqual([]);
});

it('a lease that the hub does not give twice is not there, which is told', async () => {
  const link = await linkTo(2);
  expect(await link.ask([QUESTION])).toEqual([{ callId: 'call', outcome: undefined }]);
  expect(warnings).toEqual([expect.stringContaining('the hub of this run could not be asked')]);
  expect(link.isThere).toBe(false);
});

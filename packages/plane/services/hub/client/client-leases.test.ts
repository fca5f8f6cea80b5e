// Leases at the end of a shim, against a hub that answers when a test says.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { SnapshotFile } from '@subluminal/contracts';
import type { Lease } from '@subluminal/contracts/hub-frames';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Crew } from '../testing/crew.ts';
import { type AskedFrame, asFrames } from '../testing/frame-impostor.ts';
import { HASH } from '../testing/scenario.ts';

const COUNTER = { rule: 'budget all', key: 'run' };
const ONE: readonly Lease[] = [{ ...COUNTER, calls: 1 }];
const GIVEN: readonly Lease[] = [{ ...COUNTER, calls: 5 }];
const RECALL = JSON.stringify({ push: 'recall', body: { recall: 3, leases: [COUNTER] } });

let crew: Crew;

beforeEach(() => {
  crew = new Crew();
});

afterEach(() => crew.end());

interface AskedLease {
  readonly socket: Socket;
  readonly answer: string;
}

/** A hub that is well; it hands over what is asked for a lease, and tells what comes back. */
async function impostor() {
  const returned: unknown[] = [];
  let tellLease: (asked: AskedLease) => void = () => {};
  const asked = new Promise<AskedLease>((resolve) => {
    tellLease = resolve;
  });
  const take = ({ id, to, body }: AskedFrame, socket: Socket): void => {
    const answered = (given: object) => JSON.stringify({ id, status: 200, body: given });
    if (to === 'health') socket.write(`${answered({ status: 'ok' })}\n`);
    else if (to === 'lease')
      tellLease({ socket, answer: answered({ shutdown: false, leases: GIVEN }) });
    else returned.push(body);
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    crew.atEnd(() => socket.destroy());
    asFrames(take)(socket);
  });
  server.listen(crew.socketPath);
  await once(server, 'listening');
  crew.atEnd(() => server.close());
  return { asked, returned };
}

function noSnapshot(): SnapshotFile {
  throw new Error('the policy is not asked for');
}

const needed = { policy_hash: HASH, leases: ONE };

it('a lease that comes too late goes back at once', async () => {
  const { asked, returned } = await impostor();
  const client = crew.client({ limits: { leaseMs: 100 } });
  await client.ready();
  const leased = await client.lease(needed, noSnapshot);
  expect(leased).toEqual({ kind: 'unavailable', reason: 'the hub did not answer in time' });
  const { socket, answer } = await asked;
  socket.write(`${answer}\n`);
  await expect.poll(() => returned).toEqual([{ policy_hash: HASH, leases: GIVEN }]);
});

it('what was leased can be used before a recall that has come with it', async () => {
  const { asked, returned } = await impostor();
  const heard: string[] = [];
  const client = crew.client({
    onRecall: (leases) => {
      heard.push('recalled');
      expect(leases).toEqual([COUNTER]);
      return { policy_hash: HASH, leases: [] };
    },
  });
  await client.ready();
  const leasing = client.lease(needed, noSnapshot).then(({ kind }) => heard.push(kind));
  const { socket, answer } = await asked;
  socket.write(`${answer}\n${RECALL}\n`);
  await leasing;
  await expect.poll(() => returned).toEqual([{ policy_hash: HASH, leases: [], recall: 3 }]);
  expect(heard).toEqual(['answer', 'recalled']);
});

it('a connection that breaks is told once, also with a lease under way', async () => {
  const { asked } = await impostor();
  let breaks = 0;
  const client = crew.client({ onBroken: () => breaks++, limits: { leaseMs: 100 } });
  await client.ready();
  const leasing = client.lease(needed, noSnapshot);
  const { socket } = await asked;
  socket.destroy();
  // It is asked for once more, over another connection.
  expect(await leasing).toMatchObject({ kind: 'unavailable' });
  expect(breaks).toBe(1);
});

import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Bench, ME } from '../../stores/approvals/testing/bench.ts';
import { type ApprovalChannel, RequestFollower } from '../approval-channels/index.ts';
import { startChannels } from './channels.ts';

import { findLedger } from './home.ts';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.end());

/** A channel that exists in this test only: it needs one folder, and one line in the registry. */
function bellChannel(rung: string[]): ApprovalChannel {
  return {
    name: 'bell',
    configure: () => ({
      secretRefs: { code: 'env://BELL_CODE' },
      start: ({ desk, secrets }) => ({
        running: new RequestFollower(desk, 'bell', {
          tell: async ({ request }) => {
            rung.push(`${request.call.tool} ${secrets['code']}`);
            return { kind: 'told', value: {} };
          },
        }),
        callback: {
          path: '/approvals/bell',
          bytesMax: 1_024,
          answer: ({ rawBody }) => {
            const id = Buffer.from(rawBody).toString();
            const { kind } = desk.decide(id, { state: 'approved', ...ME });
            return { status: kind === 'ended' ? 200 : 409, body: {} };
          },
        },
      }),
    }),
  };
}

async function start(env: { readonly [name: string]: string }, rung: string[], log: string[]) {
  const where = { env: { SUB_HOME: bench.home, HOME: bench.home, ...env }, cwd: '/' };
  const found = await findLedger(where);
  if (isFailure(found)) throw new Error(found.message);
  const { config, paths } = found;
  return startChannels({
    desk: bench.desk,
    settings: { keepDays: 30, listen: null, desktop: null, webhook: null, slack: null },
    config,
    paths,
    env: where.env,
    log: (message) => log.push(message),
    channels: [bellChannel(rung)],
  });
}

test('a further channel gets its secret, announces requests and takes answers', async () => {
  const rung: string[] = [];
  const channels = await start({ BELL_CODE: 'ding' }, rung, []);
  expect(channels.names).toEqual(['bell']);
  const id = bench.ask();
  await vi.waitFor(() => expect(rung).toEqual(['write_file ding']));
  const answer = channels.callbacks.get('/approvals/bell')?.answer;
  expect(await answer?.({ headers: {}, rawBody: Buffer.from(id) })).toMatchObject({ status: 200 });
  expect(bench.desk.queue.get(id)).toMatchObject({ state: 'approved' });
  await channels.stop();
});

test('a further channel stays off without its secret', async () => {
  const log: string[] = [];
  const channels = await start({}, [], log);
  expect(channels.names).toEqual([]);
  expect(log).toEqual([
    'approvals by bell are off: the secret approvals.bell.code cannot be had: BELL_CODE is not set.',
  ]);
});

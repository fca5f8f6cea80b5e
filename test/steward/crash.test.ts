// Kills Steward with SIGKILL at every commit of the demo task to its journal, and where mail and calendar have taken
// something. Judged by mail server and calendar: nothing is done twice, nothing is lost without a word.
// `CRASH_POINTS=all` tries every point, `CRASH_POINTS='before 7,mail'` those; without it, a sample.
import { once } from 'node:events';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { askSteward } from '@subluminal/plane/steward-socket';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type DemoWorld, openDemoWorld, REQUEST } from './demo-task.ts';
import type { StewardHome } from './steward-home.ts';

const TIMEOUT_MS = 60_000;
const ALL_TIMEOUT_MS = 30 * 60_000;
const HOOK = join(import.meta.dirname, 'kill-at-commit.mjs');
const COMMITS_MAX = 60;

let world: DemoWorld;
beforeAll(async () => {
  world = await openDemoWorld();
}, TIMEOUT_MS);
afterAll(() => world.close(), TIMEOUT_MS);

/** Whether the process came to the point, and whether it had taken the request by then. */
async function crashAt(home: StewardHome, point: string) {
  const { mail, calendar, configFolder } = world;
  const NODE_OPTIONS = `--import=${HOOK}`;
  const { child, isReady } = await home.start(configFolder, { KILL_AT: point, NODE_OPTIONS });
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : [];
  mail.onReceived = point === 'mail' ? () => child.kill('SIGKILL') : undefined;
  calendar.onRequest = ({ method }) => {
    if (point === 'calendar' && method === 'PUT') child.kill('SIGKILL');
    return false;
  };
  const approvals = isReady ? home.approveAll() : undefined;
  const taken = isReady ? await home.say(REQUEST) : undefined;
  const ended = taken === undefined ? undefined : await home.idle(taken);
  if (ended !== undefined && !isFailure(ended)) child.kill();
  await gone;
  approvals?.stop();
  return { wasReached: child.signalCode === 'SIGKILL', wasTaken: taken !== undefined };
}

async function goOn(home: StewardHome, wasTaken: boolean) {
  const { child, isReady } = await home.start(world.configFolder);
  if (!isReady) throw new Error('Steward does not start again');
  const approvals = home.approveAll();
  if (wasTaken) {
    const listed = await askSteward(home.socket, 'tasks', { input: {} });
    if (isFailure(listed)) throw new Error(listed.message);
    expect(listed.tasks, 'a message that was taken is not lost').toHaveLength(1);
  }
  const conversation = await home.say(REQUEST);
  if (conversation === undefined) throw new Error('Steward takes nothing');
  const seen = await home.idle(conversation);
  if (isFailure(seen)) throw new Error(seen.message);
  approvals.stop();
  child.kill();
  await once(child, 'exit');
  return seen;
}

async function tryPoint(point: string): Promise<boolean> {
  const home = world.newHome();
  const { mail, calendar } = world;
  const sentBefore = mail.received.length;
  calendar.files.clear();
  const { wasReached, wasTaken } = await crashAt(home, point);
  const seen = await goOn(home, wasTaken);
  const task = seen.tasks.at(-1);
  expect(seen.tasks, point).toHaveLength(1);
  expect(task, point).toMatchObject({ state: 'done' });
  expect(
    seen.messages.map(({ role }) => role),
    point,
  ).toEqual(['user', 'assistant']);
  expect(calendar.files.size, `${point}: one event`).toBe(1);
  const sent = mail.received.length - sentBefore;
  const isUnsure = seen.messages.at(-1)?.text.includes('it may have been sent, or not') === true;
  expect(sent, `${point}: one mail, or none and it says so`).toBe(sent === 0 && isUnsure ? 0 : 1);
  await home.close();
  return wasReached;
}

const SAMPLE = ['before 3', 'after 14', 'mail', 'calendar'];

function* everyPoint(): Generator<string> {
  yield* ['mail', 'calendar'];
  for (let commit = 1; commit <= COMMITS_MAX; commit += 1) {
    yield `before ${commit}`;
    yield `after ${commit}`;
  }
}

test(
  'Steward that is killed at any point does nothing twice, and finishes or says why not',
  async () => {
    verifies('ST-6.1');
    const wanted = process.env['CRASH_POINTS'];
    const points = wanted === 'all' ? everyPoint() : (wanted?.split(',') ?? SAMPLE);
    let unreached: string | undefined;
    for (const point of points) {
      const wasReached = await tryPoint(point);
      if (wanted !== undefined) process.stderr.write(`${point}: killed ${wasReached}\n`);
      if (!wasReached) {
        unreached = point;
        break;
      }
    }
    // Only behind the last commit there is nothing to reach.
    expect(unreached !== undefined, unreached).toBe(wanted === 'all');
  },
  ALL_TIMEOUT_MS,
);

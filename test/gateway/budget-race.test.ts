// The race for a budget, through gateways that run as processes: the cap holds exactly, whoever asks at the same time
// and whoever is killed.
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeConfig } from '../../packages/gateway/config/testing/config-folder.ts';
import { openGatewayStore } from '../../packages/gateway/store/open/index.ts';
import { createTestDatabase } from '../../packages/gateway/store/testing/postgres.ts';
import { bodyOf, loopback } from '../../packages/gateway/turns/testing/loopback.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { raceConfig, TURN_MICROS } from './gateway-folders.ts';
import { eventually, serveAt, testFolder } from './running-processes.ts';
import { firstKey, type ServedGateway } from './served-gateway.ts';

const RACERS = 200;
const FITTING = 50;
const TIMEOUT_MS = 180_000;

beforeAll(() => ensureBuilt());

/** An upstream that answers nothing until it is told to. */
async function heldUpstream() {
  let held: { readonly response: ServerResponse; readonly gateway: string }[] = [];
  const { url } = await loopback(async (request, response) => {
    const [, gateway = ''] = /"from (\w+)"/.exec((await bodyOf(request)).toString('utf8')) ?? [];
    const turn = { response, gateway };
    held.push(turn);
    response.once('close', () => {
      held = held.filter((one) => one !== turn);
    });
  });
  return {
    url,
    held: (gateway?: string) =>
      held.filter((turn) => gateway === undefined || turn.gateway === gateway).length,
    answerAll: () => {
      for (const { response } of held) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(ANSWER));
      }
    },
  };
}

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-6',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 1_000 },
};

/** Sends turns to gateways in turn. */
function race(gateways: readonly (readonly [name: string, ServedGateway])[], key: string) {
  const statuses: (number | 'cut off')[] = [];
  const sent = Array.from({ length: RACERS }, async (_, place) => {
    const [name, gateway] = gateways[place % gateways.length] ?? [];
    if (name === undefined || gateway === undefined) throw new Error('no gateway');
    statuses.push(await turnStatus(gateway.url, name, key));
  });
  return {
    refused: () => statuses.filter((one) => one === 429 || one === 451).length,
    statuses,
    sent,
  };
}

async function turnStatus(url: string, name: string, key: string) {
  const message = { role: 'user', content: `from ${name}` };
  try {
    const answer = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'any', max_tokens: 1_000, messages: [message] }),
    });
    await answer.text();
    return answer.status;
  } catch {
    return 'cut off' as const;
  }
}

/** What the team has used and reserved, as the database says. */
async function openCounter(database: string) {
  const store = await openGatewayStore({ database });
  onTestFinished(() => store.close());
  const limit = {
    scope: 'team_month',
    key: 'platform',
    period: new Date().toISOString().slice(0, 7),
    capMicros: FITTING * TURN_MICROS,
    softMicros: 0,
    onExceeded: 'refuse',
  } as const;
  return async () => {
    const [state] = await store.budgets.states('acme', [limit]);
    return [state?.usedMicros, state?.reservedMicros].map((micros) => Number(micros) / TURN_MICROS);
  };
}

async function started(place: Parameters<typeof serveAt>[0]): Promise<ServedGateway> {
  const gateway = await serveAt(place);
  if (gateway === undefined) throw new Error('the gateway did not start');
  return gateway;
}

describe('200 turns at once against a cap for 50', { timeout: TIMEOUT_MS }, () => {
  it('on SQLite: exactly 50 pass, a kill -9 gives all of them back after the expiry, and exactly 50 pass again', async () => {
    verifies('R-16');
    const upstream = await heldUpstream();
    const dir = testFolder();
    writeConfig(dir, raceConfig(upstream.url, FITTING));
    const home = testFolder();
    const place = { dir, home, database: join(home, 'gateway.db') };
    const first = await started(place);
    const key = await firstKey(first);
    const counter = await openCounter(place.database);
    const lost = race([['one', first]], key);
    await eventually(
      () => upstream.held() + lost.statuses.length,
      (all) => all === RACERS,
    );
    expect([upstream.held(), lost.refused()]).toEqual([FITTING, RACERS - FITTING]);
    expect(await counter()).toEqual([0, FITTING]);
    await first.kill('SIGKILL');
    await Promise.all(lost.sent);
    const second = await started(place);
    await eventually(counter, ([, reserved]) => reserved === 0);
    const again = race([['two', second]], key);
    await eventually(
      () => upstream.held() + again.statuses.length,
      (all) => all === RACERS,
    );
    expect([upstream.held(), again.refused()]).toEqual([FITTING, RACERS - FITTING]);
    upstream.answerAll();
    await Promise.all(again.sent);
    expect(again.statuses.filter((status) => status === 200)).toHaveLength(FITTING);
    expect(await counter()).toEqual([FITTING, 0]);
  });

  it('on Postgres with two gateways: exactly 50 pass, and a kill -9 of one gives back what that one held', async () => {
    verifies('R-16');
    const upstream = await heldUpstream();
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const dir = testFolder();
    writeConfig(dir, raceConfig(upstream.url, FITTING));
    // At once, on an empty database.
    const [dying, living] = await Promise.all(
      [testFolder(), testFolder()].map((home) => started({ dir, home, database: database.url })),
    );
    if (dying === undefined || living === undefined) throw new Error('there are two');
    const key = await firstKey({ ...dying, url: living.url });
    const counter = await openCounter(database.url);
    const both = race(
      [
        ['dying', dying],
        ['living', living],
      ],
      key,
    );
    await eventually(
      () => upstream.held() + both.statuses.length,
      (all) => all === RACERS,
    );
    expect([upstream.held(), both.refused()]).toEqual([FITTING, RACERS - FITTING]);
    const kept = upstream.held('living');
    const lost = upstream.held('dying');
    await dying.kill('SIGKILL');
    // The turns of the other one are as old, and still run: what they hold stays theirs.
    await eventually(counter, ([, reserved]) => reserved === kept);
    const again = race([['living', living]], key);
    await eventually(
      () => upstream.held() + again.statuses.length,
      (all) => all === RACERS + kept,
    );
    expect([upstream.held(), again.refused()]).toEqual([FITTING, RACERS - lost]);
    upstream.answerAll();
    await Promise.all([...both.sent, ...again.sent]);
    expect(await counter()).toEqual([FITTING, 0]);
  });
});

// A shim asks the hub of its run: what happens when there is no answer.
import { parseErrorData } from '@subluminal/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { expectNothingLeft, hangUp, startRig, startServed } from './driver.ts';
import { listenAs, sayWell } from './hubs.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call } from './messages.ts';

beforeAll(ensureBuilt);

/** Calls of `counted` count for the run; others are the shim's own business. */
const COUNTS = bundle(`
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["counted"] } }
    effect: { budget: { scope: run, limit_calls: 5, on_exceed: BLOCK } }
`);
const UNAVAILABLE = {
  error: { code: -32081, data: { subluminal: { reason_code: 'HUB_UNAVAILABLE' } } },
};

describe('a hub that answers no call', () => {
  /** It lives, but what it is asked for gets lost. */
  const mute = () =>
    listenAs((frame) => {
      if (frame.to === 'lease') frame.connection.destroy();
      else sayWell(frame);
    });

  it('stops what counts for the run in production, and nothing else', async () => {
    verifies('NFR-003.2');
    const rig = await startServed({ policy: COUNTS, env: { SUB_GOVERNANCE_ENDPOINT: mute() } });
    rig.say(call(1, 'counted'));
    const refused = await nextJson(rig.heard);
    expect(refused).toMatchObject({ id: 1, ...UNAVAILABLE });
    expect(parseErrorData((refused as { error: { data: unknown } }).error.data).ok).toBe(true);
    rig.say(call(2, 'free'));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'free'));
    await rig.server.write(answer(2));
    expect(String(await rig.heard.next())).toBe(answer(2));
    await hangUp(rig);
  });

  it('is only told of in development', async () => {
    verifies('NFR-003.2');
    const env = { SUB_GOVERNANCE_ENDPOINT: mute() };
    const rig = await startServed({ policy: COUNTS, env, profile: 'development' });
    rig.say(call(1, 'counted'));
    expect(String(await rig.server.heard.next())).toBe(call(1, 'counted'));
    await rig.told(/hub of this run could not be asked/);
    await rig.server.write(answer(1));
    await rig.heard.next();
    await hangUp(rig);
    const decided = rig.events().find((event) => event.type === 'tool_call_decision');
    const would = { action: 'BLOCK', reason_code: 'HUB_UNAVAILABLE' };
    expect(decided).toMatchObject({ decision: { action: 'ALLOW', would } });
  });
});

describe('a hub', () => {
  it.each([
    ['another machine', 'http://192.0.2.1:80', /127\.0\.0\.1/],
    ['no address', 'hub', /unix:/],
  ])('is a fault of the command line when it could never be: %s', async (_what, url, told) => {
    const rig = await startRig({ policy: COUNTS, env: { SUB_GOVERNANCE_ENDPOINT: url } });
    expect((await rig.exit).code).toBe(2);
    await rig.silent;
    expect(rig.stderr()).toMatch(told);
    await expectNothingLeft(rig);
  });
});

it('a hub that hangs is a refusal in the end', async () => {
  verifies('EC-STDIO-037', 'F-016b');
  const endpoint = listenAs((frame) => {
    if (frame.to !== 'lease') sayWell(frame);
  });
  const rig = await startServed({ policy: COUNTS, env: { SUB_GOVERNANCE_ENDPOINT: endpoint } });
  rig.say(call(1, 'counted') + call(2, 'free'));
  expect(await nextJson(rig.heard)).toMatchObject({ id: 1, ...UNAVAILABLE });
  // What came behind it waited its turn, and was not lost.
  expect(String(await rig.server.heard.next())).toBe(call(2, 'free'));
  rig.shim.kill('SIGKILL');
});

it('the server does not learn the way to the hub', async () => {
  const env = {
    SUB_GOVERNANCE_ENDPOINT: listenAs(sayWell),
    SUB_GOVERNANCE_TOKEN: 'x'.repeat(32),
  };
  const rig = await startServed({ env });
  expect(rig.server.env.filter((name) => name.startsWith('SUB_GOVERNANCE'))).toEqual([]);
  await hangUp(rig);
});

it('an agent that loops is stopped, and the ledger hears of it', async () => {
  verifies('T-I.4');
  const policy = bundle(`
  - rule_id: loop
    kind: breaker
    enabled: true
    severity: critical
    match: {}
    effect:
      breaker:
        scope: run
        repeat_threshold: 3
        repeat_window_ms: 3600000
        on_trip: BLOCK
`);
  const rig = await startServed({ policy });
  for (const id of [1, 2]) {
    rig.say(call(id, 'look', '{"at":"the same"}'));
    await rig.server.heard.next();
    await rig.server.write(answer(id));
    await rig.heard.next();
  }
  rig.say(call(3, 'look', '{ "at" : "the same" }'));
  expect(await nextJson(rig.heard)).toMatchObject({ id: 3, error: { code: -32081 } });
  await hangUp(rig);
  const trip = rig.events().find((event) => event.type === 'breaker_trip');
  expect(trip).toMatchObject({ breaker: { rule_id: 'loop', cause: 'repeats', count: 3 } });
});

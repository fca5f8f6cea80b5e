import {
  type EvaluateRequest,
  type EvaluateResponse,
  isFailure,
  parseEvaluateRequest,
  type Rule,
  type TerminateRequest,
} from '@subluminal/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { createKeyPair, sha256, signerFromPem, verifierFromPems } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import type { HubOptions, HubRefusal } from './hub-options.ts';
import {
  breaker,
  budget,
  deny,
  policyOf,
  RUN,
  requestOf,
  type SealedPolicy,
  summaryOf,
} from './testing/scenario.ts';

let nowMs = 0;
let terminations: TerminateRequest[] = [];

beforeEach(() => {
  nowMs = 1_000;
  terminations = [];
});

function hubOf(options: Partial<HubOptions> = {}): Hub {
  const onTerminate = (request: TerminateRequest) => terminations.push(request);
  return new Hub({ runId: RUN, nowMs: () => nowMs, sha256, onTerminate, ...options });
}

function answerOf<T extends object>(reply: T | HubRefusal): T {
  if (!('kind' in reply)) return reply;
  throw new Error(`refused with ${reply.status}: ${reply.message}`);
}

async function send(hub: Hub, { file }: SealedPolicy): Promise<void> {
  expect(answerOf(await hub.policy(file))).toEqual({ accepted: true });
}

function ask(
  hub: Hub,
  policy: SealedPolicy,
  parts: Partial<EvaluateRequest> = {},
): EvaluateResponse {
  return answerOf(hub.evaluate(requestOf(policy, parts)));
}

/** How many of so many calls pass. */
function passing(hub: Hub, policy: SealedPolicy, count: number): number {
  let passed = 0;
  for (let call = 0; call < count; call++) {
    if (ask(hub, policy).decision === 'forward') passed++;
  }
  return passed;
}

const TEN = budget('ten', { limit_calls: 10 });

describe('a turn', () => {
  const TURN = { method: 'turn', server_id: 'anthropic', tool_name: 'claude' };
  const dollars: Rule = {
    ...budget('dollars', { limit_usd: 1 }),
    match: { subjects: ['turn'] },
  };

  it('reserves what it may cost until it is settled', async () => {
    const hub = hubOf();
    const policy = await policyOf([dollars]);
    await send(hub, policy);
    const turn = { ...TURN, cost_micros: 700_000 };
    expect(ask(hub, policy, { ...turn, call_id: 'first' }).decision).toBe('forward');
    expect(ask(hub, policy, turn)).toMatchObject({ call_decision: { rule_id: 'dollars' } });
    hub.settle('first', { micros: 300_000, isError: false });
    hub.settle('first', { micros: 0, isError: false });
    expect(ask(hub, policy, { ...turn, call_id: 'second' }).decision).toBe('forward');
    expect(ask(hub, policy, { ...TURN, cost_micros: 1 }).decision).toBe('deny');
  });

  it('that another rule refuses reserves nothing', async () => {
    const hub = hubOf();
    const refuses: Rule = {
      ...deny('no-opus', '*'),
      match: { subjects: ['turn'], model: { glob: ['opus*'] } },
    };
    const policy = await policyOf([dollars, refuses]);
    await send(hub, policy);
    const refused = { ...TURN, tool_name: 'opus-4', cost_micros: 900_000 };
    for (let n = 0; n < 3; n++) {
      expect(ask(hub, policy, refused)).toMatchObject({ call_decision: { rule_id: 'no-opus' } });
    }
    expect(ask(hub, policy, { ...TURN, cost_micros: 1_000_000 }).decision).toBe('forward');
  });

  it('is counted by no rule for tools', async () => {
    const hub = hubOf();
    const policy = await policyOf([budget('none', { limit_calls: 0 })]);
    await send(hub, policy);
    expect(ask(hub, policy, { ...TURN, cost_micros: 1 }).decision).toBe('forward');
  });
});

describe('a call', () => {
  it('of a resource is counted where a rule sees resources, beside the tools', async () => {
    const hub = hubOf();
    const two: Rule = {
      ...budget('two', { limit_calls: 2 }),
      match: { subjects: ['tool', 'resource'] },
    };
    const policy = await policyOf([two]);
    await send(hub, policy);
    const resource = { method: 'resources/read', tool_name: 'resources/read' };
    const prompt = { method: 'prompts/get', tool_name: 'prompts/get' };
    expect(ask(hub, policy, resource).decision).toBe('forward');
    expect(ask(hub, policy).decision).toBe('forward');
    expect(ask(hub, policy, resource)).toMatchObject({ call_decision: { rule_id: 'two' } });
    expect(ask(hub, policy, prompt).decision).toBe('forward');
  });

  it('that waits for a person is not counted yet', async () => {
    const hub = hubOf();
    const asks: Rule = {
      rule_id: 'ask',
      kind: 'approval',
      enabled: true,
      match: { tool_name: { glob: ['pay'] } },
      effect: { approval: { wait: 'hold', timeout_ms: 1_000 } },
      severity: 'warn',
    };
    const policy = await policyOf([asks, budget('one', { limit_calls: 1 })], { mode: 'control' });
    await send(hub, policy);
    const held = ask(hub, policy, { tool_name: 'pay' });
    expect(held).toMatchObject({ decision: 'deny', call_decision: { approval: { wait: 'hold' } } });
    expect(ask(hub, policy).decision).toBe('forward');
  });

  it('is a further round only as its shim says, whatever stands beside its arguments', async () => {
    const hub = hubOf();
    const once = breaker('loop', { repeat_threshold: 2, repeat_window_ms: 60_000 });
    const policy = await policyOf([once], { mode: 'control' });
    await send(hub, policy);
    const beside = { params: { inputResponses: { junk: {} }, requestState: 'x' } };
    expect(ask(hub, policy).decision).toBe('forward');
    expect(ask(hub, policy, { beside }).decision).toBe('deny');
    expect(ask(hub, policy, { beside, round: 'call-1' }).decision).toBe('forward');
    expect(ask(hub, policy, { beside, round: 'call-1' }).decision).toBe('deny');
  });

  it('is decided by the policy that the shim works by', async () => {
    const hub = hubOf();
    const policy = await policyOf([deny('no-rm', 'rm*'), TEN]);
    await send(hub, policy);
    expect(ask(hub, policy)).toMatchObject({
      decision: 'forward',
      policy_id: 'tests',
      shutdown: false,
      call_decision: { action: 'ALLOW' },
      counter_scope: 'run',
      risk_class: [],
      trace: [{ rule_id: 'ten', outcome: 'counted', tally: { count: 1, limit: 10 } }],
    });
    expect(ask(hub, policy, { tool_name: 'rm_all' })).toMatchObject({
      decision: 'deny',
      call_decision: { action: 'BLOCK', rule_id: 'no-rm' },
    });
  });

  it('waits for its policy when the hub has not got it, and counts nothing', async () => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    const wanted = { decision: 'deny', needs_policy: true, shutdown: false };
    const request = requestOf(policy);
    expect(answerOf(hub.evaluate(request))).toEqual(wanted);
    await send(hub, policy);
    const counted = { trace: [{ tally: { count: 1, limit: 10 } }] };
    expect(answerOf(hub.evaluate(request))).toMatchObject(counted);
  });

  it('is seen with its arguments, and fails closed without them', async () => {
    const hub = hubOf();
    const policy = await policyOf([deny('etc', 'read', 'args.path.startsWith("/etc")'), TEN]);
    await send(hub, policy);
    const read = (args: object | undefined) => {
      const request = requestOf(policy, { tool_name: 'read' });
      const { params: _none, ...bare } = request;
      const asked =
        args === undefined ? bare : { ...request, params: { name: 'read', arguments: args } };
      return answerOf(hub.evaluate(asSent(asked))).call_decision;
    };
    expect(read({ path: '/tmp/x' })).toMatchObject({ action: 'ALLOW' });
    expect(read({ path: '/etc/x' })).toMatchObject({ action: 'BLOCK', rule_id: 'etc' });
    expect(read(undefined)).toMatchObject({ action: 'BLOCK', reason_code: 'ARGS_NOT_INSPECTED' });
  });

  it('passes in development, with what production would have done', async () => {
    const hub = hubOf();
    const policy = await policyOf([budget('none', { limit_calls: 0 })]);
    await send(hub, policy);
    expect(ask(hub, policy, { profile: 'development' })).toMatchObject({
      decision: 'forward',
      call_decision: { action: 'ALLOW', would: { action: 'BLOCK', rule_id: 'none' } },
    });
    expect(ask(hub, policy).decision).toBe('deny');
  });

  it.each([
    ['of another run', { run_id: 'run-2' }],
    ['of no run', { run_id: undefined }],
    ['without an id', { call_id: undefined }],
    ['without its policy', { policy_hash: undefined }],
    ['without its tool', { tool_name: undefined }],
    ['without the hash of its arguments', { args_hash: undefined }],
    ['without its size', { bytes_in: undefined }],
    ['without who makes it', { identity: undefined }],
    ['of another method', { method: 'tools/list' }],
    ['from the server', { direction: 'server_to_agent' }],
    ['that is an answer', { message_type: 'response' }],
    ['with parameters of another tool', { params: { name: 'other', arguments: {} } }],
    ['with a list for its parameters', { params: [] }],
    ['with a list for its arguments', { params: { name: 'tool', arguments: [] } }],
  ])('%s is refused, and counts nothing', async (_what, parts) => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    await send(hub, policy);
    const request = asSent({ ...requestOf(policy), ...parts });
    expect(hub.evaluate(request)).toMatchObject({ kind: 'refused', status: 400 });
    expect(passing(hub, policy, 11)).toBe(10);
  });

  it('counts once, however often it is asked for', async () => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    await send(hub, policy);
    const request = requestOf(policy);
    const first = answerOf(hub.evaluate(request));
    for (let again = 0; again < 20; again++) expect(answerOf(hub.evaluate(request))).toEqual(first);
    expect(passing(hub, policy, 20)).toBe(9);
  });

  it('does not get the answer of another call by taking its id', async () => {
    const hub = hubOf();
    const policy = await policyOf([deny('no-rm', 'rm'), TEN]);
    await send(hub, policy);
    ask(hub, policy, { call_id: 'mine' });
    const stolen = requestOf(policy, { call_id: 'mine', tool_name: 'rm' });
    expect(hub.evaluate(stolen)).toMatchObject({ kind: 'refused', status: 409 });
  });

  it('is remembered only for a while', async () => {
    const hub = hubOf({ limits: { answersMax: 2 } });
    const policy = await policyOf([TEN]);
    await send(hub, policy);
    const count = (call_id: string) => ask(hub, policy, { call_id }).trace?.[0]?.tally?.count;
    expect(['a', 'b', 'a', 'c', 'a'].map(count)).toEqual([1, 2, 1, 3, 4]);
  });
});

/** A request as it comes in: what is undefined is not there. */
function asSent(request: object): EvaluateRequest {
  const parsed = parseEvaluateRequest(JSON.parse(JSON.stringify(request)));
  if (parsed.ok) return parsed.value;
  throw new Error(JSON.stringify(parsed.mismatches));
}

describe('counters', () => {
  it('outlive a change of the policy', async () => {
    const hub = hubOf();
    const old = await policyOf([TEN]);
    await send(hub, old);
    expect(passing(hub, old, 7)).toBe(7);
    const changed = await policyOf([deny('no-rm', 'rm'), TEN], { version: '2' });
    await send(hub, changed);
    expect(passing(hub, changed, 10)).toBe(3);
  });

  it('are shared while some shims work by the old policy and some by the new', async () => {
    const hub = hubOf();
    const old = await policyOf([TEN, budget('only-old', { limit_calls: 4 })]);
    const changed = await policyOf([TEN, budget('only-new', { limit_calls: 100 })], {
      version: '2',
    });
    await send(hub, old);
    await send(hub, changed);
    const turns = Array.from({ length: 5 }, () => [passing(hub, old, 1), passing(hub, changed, 1)]);
    // The fifth call by the old policy finds its own budget used up: the new one, which does not
    // have that rule, has not made the hub forget it.
    expect(turns.flat()).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
    expect(passing(hub, changed, 5)).toBe(0);
  });

  it('of different policies are apart', async () => {
    const hub = hubOf();
    const one = await policyOf([TEN]);
    const other = await policyOf([TEN], { policy_id: 'other' });
    await send(hub, one);
    await send(hub, other);
    expect([passing(hub, one, 20), passing(hub, other, 20)]).toEqual([10, 10]);
  });

  it('stay when their policy had to make room', async () => {
    const hub = hubOf({ limits: { policiesMax: 1 } });
    const policy = await policyOf([TEN]);
    const other = await policyOf([TEN], { policy_id: 'other' });
    await send(hub, policy);
    expect(passing(hub, policy, 7)).toBe(7);
    await send(hub, other);
    expect(ask(hub, policy).needs_policy).toBe(true);
    await send(hub, policy);
    expect(passing(hub, policy, 7)).toBe(3);
  });
});

describe('a policy', () => {
  it('makes room when it was not used for longest', async () => {
    const hub = hubOf({ limits: { policiesMax: 2 } });
    const [used, unused, late] = [
      await policyOf([], { version: 'used' }),
      await policyOf([], { version: 'unused' }),
      await policyOf([], { version: 'late' }),
    ];
    await send(hub, used);
    await send(hub, unused);
    ask(hub, used);
    await send(hub, late);
    expect(ask(hub, used).decision).toBe('forward');
    expect(ask(hub, unused).needs_policy).toBe(true);
  });

  it('is refused when its content does not have its hash', async () => {
    const hub = hubOf();
    const { file } = await policyOf([TEN]);
    const { file: loose } = await policyOf([]);
    const forged = { ...file, snapshot: loose.snapshot };
    const answer = answerOf(await hub.policy(forged));
    expect(answer.accepted).toBe(false);
    expect(answer.reason).toContain('SUB_SNAPSHOT_HASH');
  });

  it.each([['text'], [null], [{}], [{ policy_hash: 1 }]])('is not %j', async (file) => {
    expect(await hubOf().policy(file)).toMatchObject({ kind: 'refused', status: 400 });
  });

  it('must be signed when the hub trusts only a key', async () => {
    const pair = createKeyPair();
    const made = signerFromPem(pair.privatePem);
    const trusted = verifierFromPems([pair.publicPem]);
    if (isFailure(made) || isFailure(trusted)) throw new Error('no keys');
    const hub = hubOf({ verifier: trusted });
    const plain = await policyOf([TEN]);
    const signed = await policyOf([TEN], { signer: made });
    expect(answerOf(await hub.policy(plain.file)).accepted).toBe(false);
    await send(hub, signed);
  });

  it('may come from many shims at once', async () => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    await Promise.all(Array.from({ length: 8 }, () => send(hub, policy)));
    expect(passing(hub, policy, 20)).toBe(10);
  });

  it('is no longer taken when the run has too many, so that no count is forgotten', async () => {
    const hub = hubOf({ limits: { policyIdsMax: 2 } });
    for (const policy_id of ['one', 'two']) await send(hub, await policyOf([TEN], { policy_id }));
    const third = await policyOf([TEN], { policy_id: 'three' });
    expect(answerOf(await hub.policy(third.file)).accepted).toBe(false);
    await send(hub, await policyOf([TEN], { policy_id: 'two', version: '2' }));
  });
});

describe('a result', () => {
  const FLAKY = breaker('flaky', { error_threshold: 2, window_ms: 60_000 });
  const report = (hub: Hub, call_id: string, result: 'ok' | 'error' = 'error') =>
    answerOf(hub.result({ run_id: RUN, call_id, result }));

  it('counts for the breaker that watches the call, once', async () => {
    const hub = hubOf();
    const policy = await policyOf([FLAKY]);
    await send(hub, policy);
    for (const call_id of ['a', 'b', 'c']) ask(hub, policy, { call_id });
    report(hub, 'a');
    report(hub, 'a');
    report(hub, 'c', 'ok');
    expect(ask(hub, policy).decision).toBe('forward');
    report(hub, 'b');
    expect(ask(hub, policy)).toMatchObject({ call_decision: { reason_code: 'BREAKER_ERRORS' } });
  });

  it('counts although the policy has changed meanwhile', async () => {
    const hub = hubOf();
    const old = await policyOf([FLAKY]);
    await send(hub, old);
    for (const call_id of ['a', 'b']) ask(hub, old, { call_id });
    report(hub, 'a');
    const changed = await policyOf([TEN, FLAKY], { version: '2' });
    await send(hub, changed);
    expect(ask(hub, changed).decision).toBe('forward');
    report(hub, 'b');
    expect(ask(hub, changed).decision).toBe('deny');
  });

  it('of a call that no breaker watches changes nothing', async () => {
    const hub = hubOf({ limits: { watchedMax: 1 } });
    const policy = await policyOf([FLAKY]);
    await send(hub, policy);
    for (const call_id of ['a', 'b', 'c']) ask(hub, policy, { call_id });
    for (const call_id of ['a', 'b', 'unknown']) report(hub, call_id);
    expect(ask(hub, policy).decision).toBe('forward');
  });

  it('of another run is refused', () => {
    const other = { run_id: 'run-2', call_id: 'a', result: 'error' } as const;
    expect(hubOf().result(other)).toMatchObject({ kind: 'refused', status: 400 });
  });
});

describe('the end of a run', () => {
  const LAST = budget('last', { limit_calls: 1, on_exceed: 'TERMINATE_RUN' });

  it('comes from a rule, and holds for every policy', async () => {
    const hub = hubOf();
    const policy = await policyOf([LAST]);
    const other = await policyOf([], { policy_id: 'other' });
    await send(hub, policy);
    await send(hub, other);
    ask(hub, policy);
    const ended = ask(hub, policy, { server_id: 'files' });
    expect(ended).toMatchObject({ decision: 'deny', call_decision: { action: 'TERMINATE_RUN' } });
    const { terminate_code: code } = ended.call_decision?.terminate ?? {};
    expect(terminations).toMatchObject([{ run_id: RUN, code, server_id: 'files' }]);
    expect(ask(hub, other)).toMatchObject({
      decision: 'deny',
      shutdown: true,
      call_decision: { action: 'TERMINATE_RUN', reason_code: 'RUN_TERMINATED', rule_id: 'last' },
    });
    const late = await policyOf([], { policy_id: 'late' });
    await send(hub, late);
    expect(ask(hub, late).decision).toBe('deny');
  });

  it('comes from a shim, reaches all shims, and the host once', async () => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    await send(hub, policy);
    const before = requestOf(policy);
    expect(answerOf(hub.evaluate(before)).shutdown).toBe(false);
    const reason = { run_id: RUN, code: 'LOOP', message: 'It goes in circles.' };
    expect(answerOf(hub.terminate(reason))).toEqual({ shutdown: true });
    expect(answerOf(hub.terminate({ ...reason, code: 'LATER' }))).toEqual({ shutdown: true });
    expect(terminations).toEqual([reason]);
    expect(hub.terminated()).toEqual(reason);
    expect(answerOf(hub.evaluate(before))).toMatchObject({ decision: 'forward', shutdown: true });
    expect(ask(hub, policy)).toMatchObject({
      shutdown: true,
      call_decision: {
        action: 'TERMINATE_RUN',
        rule_id: null,
        terminate: { terminate_code: 'LOOP' },
      },
    });
    expect(answerOf(hub.heartbeat({ server_id: 'server' }))).toEqual({ shutdown: true });
  });

  it('is not taken from another run', () => {
    const hub = hubOf();
    const other = { run_id: 'run-2', code: 'LOOP', message: '' };
    expect(hub.terminate(other)).toMatchObject({ kind: 'refused', status: 400 });
    expect(hub.terminated()).toBeNull();
    expect(hub.isStopping).toBe(false);
  });

  it('can be a plain shutdown: calls are still decided, and their answers announce it', async () => {
    const hub = hubOf();
    const policy = await policyOf([TEN]);
    await send(hub, policy);
    hub.shutdown();
    expect(ask(hub, policy)).toMatchObject({ decision: 'forward', shutdown: true });
    expect(terminations).toEqual([]);
  });
});

describe('the shims of a run', () => {
  const beat = (hub: Hub, shim_id: string, more: object = {}) =>
    answerOf(hub.heartbeat({ server_id: `server of ${shim_id}`, run_id: RUN, shim_id, ...more }));

  it('are known by their heartbeats', () => {
    const hub = hubOf({ limits: { silentMs: 100 } });
    beat(hub, 'a', { summary: summaryOf(1) });
    nowMs += 60;
    beat(hub, 'b');
    nowMs += 60;
    beat(hub, 'c', { leaving: true });
    expect(hub.shims.list()).toEqual([
      {
        shimId: 'a',
        serverId: 'server of a',
        lastSeenMs: 1_000,
        summary: summaryOf(1),
        state: 'silent',
      },
      { shimId: 'b', serverId: 'server of b', lastSeenMs: 1_060, summary: null, state: 'live' },
      { shimId: 'c', serverId: 'server of c', lastSeenMs: 1_120, summary: null, state: 'left' },
    ]);
  });

  it('are added up by the last counts of each, also when they have left', () => {
    const hub = hubOf({ limits: { shimsMax: 2 } });
    beat(hub, 'a', { summary: summaryOf(1) });
    beat(hub, 'a', { summary: summaryOf(5), leaving: true });
    beat(hub, 'a', { summary: summaryOf(100) });
    beat(hub, 'b', { summary: summaryOf(20) });
    beat(hub, 'c', { summary: summaryOf(300) });
    expect(hub.shims.summary()).toEqual(summaryOf(325));
    expect(hub.shims.list().map(({ shimId }) => shimId)).toEqual(['b', 'c']);
  });

  it('tell once how they are looser than the run, and whether their servers have started', () => {
    const told: object[] = [];
    const hub = hubOf({ onUnlike: (one) => told.push(one) });
    const unlike_run = 'no events';
    beat(hub, 'a', { summary: summaryOf(0), unlike_run });
    beat(hub, 'a', { summary: summaryOf(1), unlike_run, leaving: true });
    beat(hub, 'b', { unlike_run, leaving: true });
    beat(hub, 'c', { summary: summaryOf(1) });
    // Whoever says goodbye for another does not undo that it has started.
    beat(hub, 'c', { unlike_run, leaving: true });
    const of = (id: string, hasStarted: boolean) => {
      return { serverId: `server of ${id}`, reason: unlike_run, hasStarted };
    };
    expect(told).toEqual([of('a', true), of('b', false), of('c', true)]);
    expect(hub.shims.list().map(({ unlike }) => unlike)).toEqual(told);
  });

  it('are doubted when they have counted more after a goodbye: another process may have sent it', () => {
    const hub = hubOf();
    beat(hub, 'a', { summary: summaryOf(1), leaving: true });
    beat(hub, 'b', { summary: summaryOf(2), leaving: true });
    beat(hub, 'a', { summary: { ...summaryOf(1), calls_blocked: 1 } });
    beat(hub, 'b', { summary: summaryOf(2) });
    expect(hub.shims.list().map(({ shimId, state }) => [shimId, state])).toEqual([
      ['a', 'silent'],
      ['b', 'left'],
    ]);
  });

  it('may be known by their server alone, and then start again', () => {
    const hub = hubOf();
    const say = (calls: number, leaving: boolean) =>
      answerOf(hub.heartbeat({ server_id: 'files', summary: summaryOf(calls), leaving }));
    say(3, true);
    say(4, false);
    expect(hub.shims.summary()).toEqual(summaryOf(7));
    expect(hub.shims.list()).toMatchObject([{ shimId: 'files', state: 'live' }]);
  });

  it('are not more than the hub can know', () => {
    const hub = hubOf({ limits: { shimsMax: 1 } });
    beat(hub, 'a');
    const other = hub.heartbeat({ server_id: 'server', shim_id: 'b' });
    expect(other).toMatchObject({ kind: 'refused', status: 503 });
  });

  it('of another run are refused', () => {
    const other = hubOf().heartbeat({ server_id: 'server', run_id: 'run-2' });
    expect(other).toMatchObject({ kind: 'refused', status: 400 });
  });

  it('are waited for until the last has left', async () => {
    const hub = hubOf();
    expect(await hub.shims.whenLeft(0)).toBe(true);
    beat(hub, 'a');
    beat(hub, 'b');
    expect(await hub.shims.whenLeft(0)).toBe(false);
    const left = hub.shims.whenLeft(60_000);
    beat(hub, 'a', { leaving: true });
    beat(hub, 'b', { leaving: true });
    expect(await left).toBe(true);
  });

  it('that were killed are not waited for forever', async () => {
    const hub = hubOf({ limits: { silentMs: 100 } });
    beat(hub, 'a');
    const left = hub.shims.whenLeft(60_000);
    nowMs += 101;
    expect(await left).toBe(true);
  });
});

describe('a call that a person must approve', () => {
  const approval = (wait: 'hold' | 'hint'): Rule => ({
    rule_id: 'ask',
    kind: 'approval',
    enabled: true,
    match: { tool_name: { glob: ['pay'] } },
    effect: { approval: { wait, timeout_ms: 1_000 } },
    severity: 'warn',
  });
  const asking = (wait: 'hold' | 'hint') =>
    policyOf([approval(wait), budget('two', { limit_calls: 2 })], { mode: 'control' });

  it('is decided again once it is approved, and counts once', async () => {
    const hub = hubOf();
    const policy = await asking('hold');
    await send(hub, policy);
    const pay = { call_id: 'pay', tool_name: 'pay' };
    for (let again = 0; again < 3; again++) {
      expect(ask(hub, policy, pay)).toMatchObject({
        decision: 'deny',
        call_decision: { rule_id: 'ask', approval: { wait: 'hold' } },
      });
    }
    const approved = { ...pay, approved: ['ask'] };
    for (let again = 0; again < 3; again++) {
      expect(ask(hub, policy, approved).decision).toBe('forward');
    }
    expect(passing(hub, policy, 5)).toBe(1);
  });

  it('is not decided again under its id once it was let pass or refused', async () => {
    const hub = hubOf();
    const policy = await asking('hint');
    await send(hub, policy);
    const pay = { call_id: 'pay', tool_name: 'pay' };
    expect(ask(hub, policy, pay).decision).toBe('deny');
    const again = hub.evaluate(requestOf(policy, { ...pay, approved: ['ask'] }));
    expect(again).toMatchObject({ kind: 'refused', status: 409 });
    // The retry is a call of its own.
    const retry = { call_id: 'retry', tool_name: 'pay', approved: ['ask'] };
    expect(ask(hub, policy, retry).decision).toBe('forward');
    expect(hub.evaluate(requestOf(policy, { ...retry, approved: [] }))).toMatchObject({
      kind: 'refused',
      status: 409,
    });
  });

  it('may be decided by another policy while it is held', async () => {
    const hub = hubOf();
    const [old, changed] = [await asking('hold'), await policyOf([], { mode: 'control' })];
    await send(hub, old);
    await send(hub, changed);
    const pay = { call_id: 'pay', tool_name: 'pay' };
    expect(ask(hub, old, pay).decision).toBe('deny');
    expect(ask(hub, changed, pay).decision).toBe('forward');
  });
});

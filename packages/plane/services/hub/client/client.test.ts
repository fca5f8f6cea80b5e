import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { EvaluateRequest, ShimCounts, SnapshotFile } from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Crew, TOKEN } from '../testing/crew.ts';
import { answering, asFrames } from '../testing/frame-impostor.ts';
import {
  breaker,
  budget,
  policyOf,
  RUN,
  requestOf,
  type SealedPolicy,
  summaryOf,
} from '../testing/scenario.ts';
import { createHubClient, HubClient } from './client.ts';
import { hubBodyBytesMax } from './connection.ts';
import type { Loss } from './heartbeat.ts';

let crew: Crew;

beforeEach(() => {
  crew = new Crew();
});

afterEach(() => crew.end());

/** A promise and what settles it, for what a callback tells. */
function told<T>() {
  let tell: (value: T) => void = () => {};
  const said: T[] = [];
  const first = new Promise<T>((resolve) => {
    tell = (value) => {
      said.push(value);
      resolve(value);
    };
  });
  return { tell, said, first };
}

async function decisions(
  client: HubClient,
  policy: SealedPolicy,
  count: number,
): Promise<readonly string[]> {
  const asked = Array.from({ length: count }, () =>
    client.evaluate(requestOf(policy), sealed(policy)),
  );
  return (await Promise.all(asked)).map((evaluated) =>
    evaluated.kind === 'answer' ? evaluated.response.decision : evaluated.reason,
  );
}

const sealed = (policy: SealedPolicy) => (): SnapshotFile => policy.file;
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const passed = (said: readonly string[]) => said.filter((one) => one === 'forward').length;

/** Something that listens where the hub should, and does with its connections what it likes. */
async function impostor(serve: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    crew.atEnd(() => socket.destroy());
    serve(socket);
  });
  server.listen(crew.socketPath);
  await once(server, 'listening');
  crew.atEnd(() => server.close());
  return server;
}

describe('an address', () => {
  const made = (endpoint: string, token?: string) =>
    createHubClient({
      endpoint,
      ...(token !== undefined && { token }),
      runId: RUN,
      shimId: 'shim',
      serverId: 'server',
      summary: () => summaryOf(0),
    });

  it.each([
    ['http://example.com:80'],
    ['http://10.0.0.1:80'],
    ['http://0.0.0.0:80'],
    ['http://127.0.0.1.example.com:80'],
    ['http://127.0.0.1@example.com:80'],
    ['http://user:password@127.0.0.1:80'],
    ['http://127.0.0.1:80/path'],
    ['http://127.0.0.1'],
    ['http://127.0.0.1:99999'],
    ['https://127.0.0.1:80'],
    ['unix:relative.sock'],
    ['/run/hub.sock'],
    [''],
  ])('like `%s` is refused, without telling a secret', (endpoint) => {
    const answer = made(endpoint, TOKEN);
    expect(answer).toMatchObject({ kind: 'failure', code: 'SUB_HUB_ENDPOINT' });
    expect(JSON.stringify(answer)).not.toMatch(/password|a-token/);
  });

  it('with a port needs a token that fits a header', () => {
    expect(made('http://127.0.0.1:80')).toMatchObject({ kind: 'failure' });
    const answer = made('http://127.0.0.1:80', 'secret\r\nX: y');
    expect(answer).toMatchObject({ kind: 'failure' });
    expect(JSON.stringify(answer)).not.toContain('secret');
    expect(made('http://127.0.0.1:80', TOKEN)).toBeInstanceOf(HubClient);
    expect(made('http://localhost:80/', TOKEN)).toBeInstanceOf(HubClient);
  });
});

describe('two shims', () => {
  it('share one budget exactly, however their calls interleave', async () => {
    await crew.hub();
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    const clients = [crew.client({ shimId: 'a' }), crew.client({ shimId: 'b' })];
    const said = await Promise.all(clients.map((client) => decisions(client, policy, 25)));
    expect(passed(said.flat())).toBe(10);
    expect(said.flat().filter((one) => one === 'deny')).toHaveLength(40);
  });

  it('share it over a port, too', async () => {
    const { endpoint } = await crew.hub({ listen: { kind: 'tcp', token: TOKEN } });
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    const clients = [0, 1].map(() => crew.client({ endpoint, token: TOKEN }));
    const said = await Promise.all(clients.map((client) => decisions(client, policy, 8)));
    expect(passed(said.flat())).toBe(10);
  });

  it('see each other fail: errors at one trip the breaker for the other', async () => {
    await crew.hub();
    const policy = await policyOf([breaker('b', { error_threshold: 2, window_ms: 60_000 })]);
    const [one, other] = [crew.client({ shimId: 'a' }), crew.client({ shimId: 'b' })];
    for (const call_id of ['x', 'y'])
      await one.evaluate(requestOf(policy, { call_id }), sealed(policy));
    expect(await decisions(other, policy, 1)).toEqual(['forward']);
    one.result('x', 'error');
    one.result('y', 'error');
    // Results go before the next call of the same shim.
    expect(await decisions(one, policy, 1)).toEqual(['deny']);
    expect(await decisions(other, policy, 1)).toEqual(['deny']);
  });

  it('may change to another policy one after the other and keep their counts', async () => {
    await crew.hub();
    const [one, other] = [crew.client({ shimId: 'a' }), crew.client({ shimId: 'b' })];
    const ten = budget('ten', { limit_calls: 10 });
    const old = await policyOf([ten]);
    const changed = await policyOf([ten, budget('more', { limit_calls: 99 })], { version: '2' });
    expect(passed(await decisions(one, old, 4))).toBe(4);
    expect(passed(await decisions(one, changed, 4))).toBe(4);
    expect(passed(await decisions(other, old, 1))).toBe(1);
    expect(passed(await decisions(other, changed, 4))).toBe(1);
  });

  it('both shut down when a rule has ended the run', async () => {
    const ended = told<string>();
    const hub = await crew.hub({ onTerminate: ({ code }) => ended.tell(code) });
    const stops = [told<void>(), told<void>()] as const;
    const [one, other] = stops.map((stop, index) =>
      crew.client({
        shimId: `shim-${index}`,
        onShutdown: () => stop.tell(),
        limits: { heartbeatMs: 10 },
      }),
    );
    other?.start();
    one?.terminate({ code: 'LOOP', message: 'It goes in circles.' });
    await Promise.all([...stops.map(({ first }) => first), ended.first]);
    expect(hub.terminated()).toEqual({
      run_id: RUN,
      code: 'LOOP',
      message: 'It goes in circles.',
      server_id: 'server',
    });
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    for (const client of [one, other]) {
      const evaluated = await client?.evaluate(requestOf(policy), sealed(policy));
      expect(evaluated).toMatchObject({ response: { call_decision: { action: 'TERMINATE_RUN' } } });
    }
    expect(stops.map(({ said }) => said.length)).toEqual([1, 1]);
  });
});

describe('a call', () => {
  it('brings its policy along, once for all calls that wait', async () => {
    const hub = await crew.hub();
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    const client = crew.client();
    let sent = 0;
    const asked = Array.from({ length: 12 }, () =>
      client.evaluate(requestOf(policy), () => {
        sent++;
        return policy.file;
      }),
    );
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['answer']));
    expect(sent).toBe(1);
    expect(hub.shims.list()).toEqual([]);
  });

  it('is unavailable when the hub does not take its policy', async () => {
    await crew.hub();
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    const other = await policyOf([]);
    const forged = { ...policy.file, snapshot: other.file.snapshot };
    const evaluated = await crew.client().evaluate(requestOf(policy), () => forged);
    expect(evaluated).toEqual({
      kind: 'unavailable',
      reason: matching(/does not take the policy: .*SUB_SNAPSHOT_HASH/),
    });
  });

  it('is unavailable when its policy cannot be had', async () => {
    await crew.hub();
    const policy = await policyOf([]);
    const broken = () => {
      throw new Error('no file');
    };
    const client = crew.client();
    expect(await client.evaluate(requestOf(policy), broken)).toMatchObject({ kind: 'unavailable' });
    expect(await decisions(client, policy, 1)).toEqual(['forward']);
  });

  it('is asked again on a connection that the hub has closed meanwhile, and counts once', async () => {
    const policy = await policyOf([budget('ten', { limit_calls: 10 })]);
    const hub = await crew.hub();
    const lossy = crew.client({ endpoint: `unix:${await losing(hub.endpoint)}` });
    const asked = await decisions(lossy, policy, 6);
    expect(passed(asked)).toBe(6);
    expect(passed(await decisions(crew.client(), policy, 20))).toBe(4);
  });

  it('is asked again once when the hub has broken off its answer, under the same id', async () => {
    const asked: unknown[] = [];
    await impostor(
      asFrames(({ id, body }, socket) => {
        asked.push(body);
        socket.end(`{"id":${String(id)},"status":200,"body":{"decision":`);
      }),
    );
    const policy = await policyOf([]);
    const [said] = await decisions(crew.client(), policy, 1);
    expect(said).toBe('the hub cannot be reached (ECONNRESET)');
    expect(asked).toHaveLength(2);
    expect(asked[1]).toEqual(asked[0]);
  });

  it.each([
    ['no JSON', 200, 'hello'],
    ['another shape', 200, '{"decision":"forward"}'],
    ['a pass without a decision', 200, '{"decision":"forward","shutdown":false}'],
    [
      'a pass of what was refused',
      200,
      '{"decision":"forward","shutdown":false,"call_decision":{"action":"BLOCK","rule_id":null,"severity":"warn","reason_code":"X","summary":"x"}}',
    ],
    ['a pass without a policy', 200, '{"decision":"forward","shutdown":false,"needs_policy":true}'],
    ['an error', 500, '{"error":{"status":500,"message":"\\u001b[2Jgone"}}'],
  ])('is unavailable when the hub answers with %s', async (_what, status, body) => {
    await impostor(answering(status, body));
    const evaluated = await crew.client().evaluate(requestOf(await policyOf([])), () => {
      throw new Error('not asked for');
    });
    expect(evaluated.kind).toBe('unavailable');
    expect(JSON.stringify(evaluated)).not.toContain('u001b');
  });

  it('is unavailable when the answer is too long', async () => {
    await impostor(answering(200, `"${'x'.repeat(2_000)}"`));
    const client = crew.client({ limits: { responseBytesMax: 1_000 } });
    const said = await decisions(client, await policyOf([]), 1);
    expect(said).toEqual(['the answer of the hub is too long']);
  });

  it('is unavailable when it is too large for the hub', async () => {
    await crew.hub();
    const policy = await policyOf([]);
    const text = 'ä'.repeat(600);
    const large = requestOf(policy, { params: { name: 'tool', arguments: { text } } });
    const client = crew.client({ limits: { requestBytesMax: 1_500 } });
    expect(await client.evaluate(large, sealed(policy))).toMatchObject({ kind: 'unavailable' });
    expect(await decisions(client, policy, 1)).toEqual(['forward']);
  });

  it('that the shim may inspect gets through, up to the inspection limit that the run has set', async () => {
    const inspectBytesMax = 4 * 1_048_576;
    await crew.hub({ inspectBytesMax });
    const policy = await policyOf([]);
    // `1e20,` is written out as 21 digits and a comma.
    const numbers = Array.from({ length: inspectBytesMax / 6 }, () => 1e20);
    const large = requestOf(policy, { params: { name: 'tool', arguments: { numbers } } });
    expect(JSON.stringify(large).length).toBeGreaterThan(hubBodyBytesMax());
    const limits = { totalMs: 30_000 };
    const [strict, fitting] = [crew.client({ limits }), crew.client({ limits, inspectBytesMax })];
    expect(await strict.evaluate(large, sealed(policy))).toMatchObject({ kind: 'unavailable' });
    expect(await fitting.evaluate(large, sealed(policy))).toMatchObject({ kind: 'answer' });
  });

  it('has a bound, however high the inspection limit is set', () => {
    expect(hubBodyBytesMax(64 * 1_048_576)).toBe(256 * 1_048_576);
  });

  it('is unavailable at once when too many wait already', async () => {
    await impostor(() => {});
    const policy = await policyOf([]);
    const client = crew.client({ limits: { queueMax: 2, totalMs: 100 } });
    const said = await decisions(client, policy, 3);
    expect(said[2]).toBe('too many requests wait for the hub');
  });
});

/** A way to the hub that closes a connection instead of giving its fourth answer. */
async function losing(endpoint: string): Promise<string> {
  const path = `${crew.socketPath}.lossy`;
  const server = createServer((near) => {
    const far = connect({ path: endpoint.slice('unix:'.length) });
    // The first is that the connection may be one of frames.
    let answers = 0;
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => (++answers === 5 ? near.destroy() : near.write(chunk)));
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => peer.destroy());
    }
  });
  server.listen(path);
  await once(server, 'listening');
  crew.atEnd(() => server.close());
  return path;
}

describe('a hub that is gone', () => {
  it.each<[string, (policy: SealedPolicy) => Promise<readonly string[]>]>([
    ['never was there', (policy) => decisions(crew.client(), policy, 3)],
    [
      'is killed in the middle of a call',
      async (policy) => {
        const child = await crew.process();
        const client = crew.client();
        expect(await decisions(client, policy, 1)).toEqual(['forward']);
        const exited = once(child, 'exit');
        child.kill('SIGSTOP');
        const asked = decisions(client, policy, 3);
        child.kill('SIGKILL');
        await exited;
        return asked;
      },
    ],
  ])('makes calls unavailable when it %s', async (_what, ask) => {
    const said = await ask(await policyOf([]));
    expect(said).toHaveLength(3);
    for (const one of said) expect(one).toMatch(/^the hub cannot be reached \(E\w+\)$/);
  });

  it('makes calls unavailable in time when it hangs', async () => {
    const child = await crew.process();
    const policy = await policyOf([]);
    const client = crew.client({ limits: { totalMs: 200 } });
    // On a busy machine it may be late without hanging.
    const forwarded = async () => {
      while ((await decisions(client, policy, 1))[0] !== 'forward');
    };
    await forwarded();
    child.kill('SIGSTOP');
    const late = 'the hub did not answer in time';
    expect(await decisions(client, policy, 3)).toEqual([late, late, late]);
    child.kill('SIGCONT');
    await forwarded();
  });

  it('is waited for at the start, with growing pauses', async () => {
    const client = crew.client();
    const ready = client.ready();
    await crew.hub();
    expect(await ready).toEqual({ kind: 'ready', judges: [], terms: {} });
  });

  it('is given up on after so many attempts', async () => {
    const readiness = { attemptsMax: 4, backoffFirstMs: 1, backoffMaxMs: 2 };
    let attempts = 0;
    await impostor((socket) => {
      attempts++;
      socket.destroy();
    });
    expect(await crew.client({ limits: readiness }).ready()).toMatchObject({
      kind: 'unavailable',
      code: 'SUB_HUB_DOWN',
      reason: matching(/cannot be reached/),
    });
    expect(attempts).toBe(4);
  });

  it('is given up on when time is up, however few attempts that were', async () => {
    const readiness = { attemptsMax: 1_000, backoffFirstMs: 600_000, backoffMaxMs: 600_000 };
    const client = crew.client({ limits: { ...readiness, readyMs: 50 } });
    expect(await client.ready()).toMatchObject({ kind: 'unavailable', code: 'SUB_HUB_DOWN' });
  });

  it('is not waited for when it is stopping, or does not know us', async () => {
    const hub = await crew.hub({ listen: { kind: 'tcp', token: TOKEN } });
    const { endpoint } = hub;
    const stranger = crew.client({ endpoint, token: `${TOKEN}x` });
    expect(await stranger.ready()).toMatchObject({ reason: matching(/ 401/) });
    hub.shutdown();
    const late = crew.client({ endpoint, token: TOKEN });
    expect(await late.ready()).toMatchObject({ reason: 'the hub is stopping' });
  });

  it('is no longer waited for when the client is closed', async () => {
    const client = crew.client({
      limits: { attemptsMax: 2, backoffFirstMs: 600_000, backoffMaxMs: 600_000 },
    });
    const ready = client.ready();
    client.close();
    expect(await ready).toMatchObject({ kind: 'unavailable' });
  });
});

describe('heartbeats', () => {
  const fast = { heartbeatMs: 10, heartbeatRetryMs: 5, goneRetryMs: 5 };

  it('register the shim at once and bring its counts', async () => {
    const hub = await crew.hub();
    let calls = 0;
    const client = crew.client({ limits: fast, summary: () => summaryOf(++calls) });
    client.start();
    client.start();
    while ((hub.shims.summary().calls_total ?? 0) < 3) await new Promise(setImmediate);
    expect(hub.shims.list()).toMatchObject([{ shimId: 'shim', serverId: 'server', state: 'live' }]);
  });

  it('bring the word to stop to an idle shim, once', async () => {
    const hub = await crew.hub();
    const stop = told<void>();
    const client = crew.client({ limits: fast, onShutdown: () => stop.tell() });
    client.start();
    while (hub.shims.list().length === 0) await new Promise(setImmediate);
    hub.shutdown();
    await stop.first;
    const policy = await policyOf([]);
    await decisions(client, policy, 3);
    expect(stop.said).toHaveLength(1);
  });

  it('notice that the hub is gone, once for each time', async () => {
    let lost = told<Loss>();
    let beats = 0;
    const client = crew.client({
      limits: { ...fast, missesMax: 3 },
      summary: () => summaryOf(++beats),
      onLost: (loss) => lost.tell(loss),
    });
    const more = async (count: number) => {
      const enough = beats + count;
      while (beats < enough) await new Promise(setImmediate);
    };
    const first = await crew.hub();
    client.start();
    while (first.shims.list().length === 0) await new Promise(setImmediate);
    await first.close();
    expect(await lost.first).toEqual({
      reason: matching(/cannot be reached \((?:ENOENT|ECONNREFUSED)\)/),
      isGone: true,
    });
    await more(5);
    expect(lost.said).toHaveLength(1);
    lost = told();
    const second = await crew.hub();
    while (second.shims.list().length === 0) await new Promise(setImmediate);
    expect(lost.said).toEqual([]);
    await second.close();
    await lost.first;
    await more(5);
    expect(lost.said).toHaveLength(1);
  });

  it('of another run than the hub of that address count as a loss', async () => {
    const lost = told<Loss>();
    await crew.hub();
    crew.client({ runId: 'run-2', limits: fast, onLost: lost.tell }).start();
    expect(await lost.first).toEqual({ reason: matching(/another run/), isGone: false });
  });

  it('that are not answered in time mean a slow hub, not one that is gone', async () => {
    const lost = told<Loss>();
    await impostor(() => undefined);
    const limits = { ...fast, totalMs: 20, missesMax: 2 };
    crew.client({ limits, onLost: lost.tell }).start();
    expect(await lost.first).toEqual({ reason: matching(/in time/), isGone: false });
  });

  it('tell of a hub that was slow and then is gone a second time', async () => {
    const lost = told<Loss>();
    const slow = await impostor(() => undefined);
    const limits = { ...fast, totalMs: 20, missesMax: 2 };
    crew.client({ limits, onLost: lost.tell }).start();
    expect(await lost.first).toMatchObject({ isGone: false });
    slow.close();
    while (lost.said.length < 2) await new Promise(setImmediate);
    expect(lost.said[1]).toMatchObject({ isGone: true });
  });

  it('bring the counts for the metrics, the goodbye too', async () => {
    const hub = await crew.hub();
    let count = 0;
    const counts = (): ShimCounts => ({
      profile: 'production',
      server_state: 'running',
      messages: [{ direction: 'agent_to_server', method: 'ping', count: ++count }],
      decisions: [],
      framing_errors: [],
    });
    const client = crew.client({ counts });
    client.start();
    while (hub.shims.list().length === 0) await new Promise(setImmediate);
    expect(await client.leave(summaryOf(0), 1_000)).toBe(true);
    const text = await crew.metrics();
    expect(text).toContain(
      'subluminal_messages_total{server_id="server",direction="agent_to_server",method="ping"} 2',
    );
    expect(text).toContain('subluminal_server_state{server_id="server",state="stopped"} 1');
  });
});

describe('leaving', () => {
  it('flushes what is on its way, and says goodbye', async () => {
    const hub = await crew.hub();
    const policy = await policyOf([breaker('b', { error_threshold: 3, window_ms: 60_000 })]);
    const client = crew.client();
    client.start();
    const requests: EvaluateRequest[] = ['x', 'y', 'z'].map((call_id) =>
      requestOf(policy, { call_id }),
    );
    for (const request of requests) await client.evaluate(request, sealed(policy));
    for (const { call_id = '' } of requests) client.result(call_id, 'error');
    const left = hub.shims.whenLeft(60_000);
    expect(await client.leave(summaryOf(3), 60_000)).toBe(true);
    expect(await left).toBe(true);
    expect(hub.shims.summary()).toEqual(summaryOf(3));
    client.close();
    expect(await decisions(crew.client(), policy, 1)).toEqual(['deny']);
  });

  it('does not hang on a hub that hangs', async () => {
    await impostor(() => {});
    const client = crew.client();
    client.start();
    expect(await client.leave(summaryOf(0), 50)).toBe(false);
  });

  it('tells when something could not be reported', async () => {
    const warned = told<string>();
    const client = crew.client({ warn: warned.tell });
    client.terminate({ code: 'LOOP', message: 'x' });
    expect(await warned.first).toMatch(/^the hub was not told \(terminate\): /);
  });

  it('by closing makes waiting calls unavailable', async () => {
    await impostor(() => {});
    const policy = await policyOf([]);
    const client = crew.client();
    const asked = decisions(client, policy, 2);
    await new Promise(setImmediate);
    client.close();
    for (const one of await asked) expect(one).toMatch(/cannot be reached|closed/);
  });
});

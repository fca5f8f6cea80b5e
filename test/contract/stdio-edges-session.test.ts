// What passes, what is governed and what is matched, on real pipes.
import { createHash } from 'node:crypto';
import type { Event } from '@subluminal/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import {
  expectNothingLeft,
  expectStillWorks,
  hangUp,
  type ServedRig,
  startRig,
  startServed,
} from './driver.ts';
import { jsonOf, nextJson } from './lines.ts';
import {
  answer,
  call,
  DENIES,
  DENIES_ALL,
  EVERY_ACTION,
  initialize,
  initialized,
  modernCall,
  notification,
  ping,
  REVISIONS,
} from './messages.ts';

beforeAll(() => ensureBuilt());

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const ended = (events: readonly Event[]) =>
  events.filter((event) => event.type === 'tool_call_end');

describe('a server that cannot start', () => {
  it.each([
    ['a command that does not exist', ['./no-such-server'], /no such command/],
    ['a folder', ['/tmp'], /permissions/],
    ['a file that is no program', ['/etc/passwd'], /permissions/],
  ])('answers every request with the cause: %s', async (_what, command, cause) => {
    verifies('EC-STDIO-009');
    const rig = await startRig({ command, policy: DENIES });
    rig.say(initialize(0, '2025-11-25') + notification('notifications/initialized'));
    rig.say(call('"a"', 'fine') + call(2, 'denied') + ping(3));
    const error = { code: -32603, message: matching(cause) };
    expect(await nextJson(rig.heard)).toMatchObject({ id: 0, error });
    expect(await nextJson(rig.heard)).toMatchObject({ id: 'a', error });
    expect(await nextJson(rig.heard)).toMatchObject({ id: 2, error: { code: -32081 } });
    expect(await nextJson(rig.heard)).toMatchObject({ id: 3, error });
    await rig.told(/"message":"the server could not be started".*\}\n/);
    expect(await hangUp(rig)).toEqual({ exit: { code: 1, signal: null }, rest: [] });
    expect(ended(rig.events())).toMatchObject([
      { status: 'ERROR', error: { class: 'transport' } },
      { status: 'ERROR', error: { class: 'policy_block' } },
    ]);
    await expectNothingLeft(rig);
  });

  it('ends by a signal too', async () => {
    verifies('EC-STDIO-009');
    const rig = await startRig({ command: ['./no-such-server'] });
    rig.say(ping(1));
    await rig.heard.next();
    rig.shim.kill('SIGTERM');
    expect((await rig.exit).code).not.toBe(0);
    await expectNothingLeft(rig);
  });
});

describe('a server that goes away', () => {
  it('leaves nobody waiting: each open request gets an error with its own id', async () => {
    verifies('EC-STDIO-010', 'F-015', 'NFR-003.1');
    const rig = await startServed();
    const ids = [1, '"1"', 0, -7, '"é\\"\\u0000"', 9007199254740991];
    for (const id of ids) rig.say(call(id, 'slow'));
    rig.say(ping(2));
    for (const _ of [...ids, 2]) await rig.server.heard.next();
    rig.server.order('die', { signal: 'SIGSEGV' });
    for (const id of [...ids, 2]) {
      const error = { code: -32603, message: matching(/`puppet`/) };
      expect(await nextJson(rig.heard)).toEqual({ jsonrpc: '2.0', id: jsonOf(String(id)), error });
    }
    expect(await rig.heard.rest()).toEqual([]);
    expect(await rig.exit).toEqual({ code: 139, signal: null });
    expect(ended(rig.events())).toHaveLength(ids.length);
    for (const end of ended(rig.events())) {
      expect(end).toMatchObject({ status: 'ERROR', error: { class: 'transport' } });
    }
    expect(rig.events().at(-1)).toMatchObject({ type: 'run_end', run: { status: 'FAILED' } });
    await expectNothingLeft(rig);
  });

  it('answers in its own line when it dies in the middle of a large answer', async () => {
    verifies('EC-STDIO-010', 'EC-STDIO-027');
    const rig = await startServed();
    rig.say(call(1, 'fetch'));
    await rig.server.heard.next();
    const line = answer(1, `{"content":[{"type":"text","text":"${'x'.repeat(3_000_000)}"}]}`);
    await rig.server.write(line.slice(0, 2_000_000));
    rig.server.order('exit', { code: 1 });
    const lines = (await rig.heard.rest()).map(String);
    const whole = lines.filter((one) => one.startsWith('{') && one.length < 10_000);
    expect(whole.map((one) => jsonOf(one))).toMatchObject([{ id: 1, error: { code: -32603 } }]);
    // Nothing that the agent could take for the answer.
    expect(lines.filter((one) => one.includes('"result"') && one.endsWith('}\n'))).toEqual([]);
  });

  it('passes on what the server said before it went', async () => {
    verifies('EC-STDIO-010');
    const rig = await startServed();
    for (const id of [1, 2, 3]) rig.say(call(id, 'a'));
    for (const _ of [1, 2, 3]) await rig.server.heard.next();
    const last = answer(1) + notification('notifications/message') + answer(2);
    await rig.server.write(last);
    rig.server.order('exit', { code: 0 });
    const lines = (await rig.heard.rest()).map(String);
    expect(lines.slice(0, 3).join('')).toBe(last);
    expect(jsonOf(lines[3] ?? '')).toMatchObject({ id: 3, error: { code: -32603 } });
    expect(lines).toHaveLength(4);
    expect(await rig.exit).toEqual({ code: 0, signal: null });
  });

  it('answers the first request although the server ended at once', async () => {
    verifies('EC-STDIO-010');
    const rig = await startRig({ command: [process.execPath, '-e', 'process.exit(7)'] });
    rig.say(initialize(0, '2025-11-25'));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 0, error: { code: -32603 } });
    expect(await rig.exit).toEqual({ code: 7, signal: null });
  });

  it.each([
    ['exit', { code: 7 }, /exited with code 7/],
    ['die', { signal: 'SIGSEGV' }, /ended by SIGSEGV/],
  ])('says how it went: %s', async (act, how, words) => {
    verifies('EC-STDIO-010');
    const rig = await startServed();
    rig.say(ping(1));
    await rig.server.heard.next();
    rig.server.order(act, how);
    const message = matching(words);
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { message } });
  });

  it('takes what the agent says to a server that is slow to start', async () => {
    const rig = await startServed({ isDeaf: true });
    rig.say(initialize(0, '2025-11-25'));
    rig.say(call(1, 'a'));
    await rig.server.tell('listen');
    expect(String(await rig.server.heard.next())).toBe(initialize(0, '2025-11-25'));
    expect(String(await rig.server.heard.next())).toBe(call(1, 'a'));
  });
});

describe('requests of the server', () => {
  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    'reach the agent, and its answer reaches the server: %s',
    async (method) => {
      verifies('EC-STDIO-019', 'F-012', 'F-015');
      const rig = await startServed({ policy: DENIES_ALL });
      // The agent has an open request of the same id: the two directions don't meet.
      rig.say(ping(1));
      await rig.server.heard.next();
      const request = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"x":[1,{"y":null}]}}\n`;
      await rig.server.write(request);
      expect(String(await rig.heard.next())).toBe(request);
      const reply = answer(1, '{"role":"assistant","content":{"type":"text","text":"é"}}');
      rig.say(reply);
      expect(String(await rig.server.heard.next())).toBe(reply);
      await rig.server.write(answer(1));
      expect(String(await rig.heard.next())).toBe(answer(1));
      // A second answer to the same request is nobody's.
      rig.say(reply);
      await expectStillWorks(rig);
      await rig.told(/"reason":"unsolicited_answer"/);
    },
  );
});

describe('answers of the server', () => {
  it('pass once: unasked and repeated ones are dropped in production', async () => {
    verifies('F-015');
    const rig = await startServed();
    rig.say(call(1, 'a'));
    await rig.server.heard.next();
    await rig.server.write(answer(2) + answer('"1"') + answer(1) + answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    await expectStillWorks(rig);
    expect(rig.stderr().match(/"reason":"unsolicited_answer"/g)).toHaveLength(3);
  });

  it('pass in any order, and even late after a cancellation', async () => {
    verifies('F-012', 'F-015', 'F-017');
    const rig = await startServed();
    for (const id of [1, 2, 3]) rig.say(call(id, 'a'));
    for (const _ of [1, 2, 3]) await rig.server.heard.next();
    const cancel = notification('notifications/cancelled', '{"requestId":2,"reason":"enough"}');
    rig.say(cancel);
    expect(String(await rig.server.heard.next())).toBe(cancel);
    for (const id of [3, 2, 1]) {
      await rig.server.write(answer(id));
      expect(String(await rig.heard.next())).toBe(answer(id));
    }
    await hangUp(rig);
    const statuses = ended(rig.events()).map((event) => 'status' in event && event.status);
    expect(statuses).toEqual(['CANCELLED', 'OK', 'OK']);
  });

  it('that never come are noticed', async () => {
    verifies('F-015');
    const rig = await startServed({ env: { SUB_REQUEST_TIMEOUT_MS: '1000' } });
    rig.say(call(1, 'slow'));
    await rig.server.heard.next();
    await rig.told(/"reason":"orphan"/);
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    await hangUp(rig);
    expect(ended(rig.events())).toMatchObject([{ status: 'TIMEOUT' }]);
  });
});

describe('what passes undecided', () => {
  const fromAgent = [
    initialize(0, '2025-11-25'),
    notification('notifications/initialized'),
    notification('notifications/progress', '{"progressToken":"t","progress":0.5}'),
    notification('notifications/roots/list_changed'),
    ping('"p"'),
    '{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"c"}}\n',
    '{"jsonrpc":"2.0","id":6,"method":"no/such/method","x":{"unknown":[null,1e-3]}}\n',
  ];
  const fromServer = [
    notification('notifications/tools/list_changed'),
    notification('notifications/prompts/list_changed'),
    notification('notifications/resources/list_changed'),
    notification('notifications/resources/updated', '{"uri":"file:///a"}'),
    notification('notifications/progress', '{"progressToken":1,"progress":1,"total":2}'),
    notification('notifications/message', '{"level":"info","data":{"a":" \\u00e9 "}}'),
    notification('notifications/cancelled', '{"requestId":1}'),
    ping('"s"'),
  ];

  it('arrives byte for byte although no tool may be called', async () => {
    verifies('F-017', 'EC-STDIO-020', 'F-012');
    const rig = await startServed({ policy: DENIES_ALL });
    for (const line of fromAgent) {
      rig.say(line);
      expect(String(await rig.server.heard.next())).toBe(line);
    }
    for (const line of fromServer) {
      await rig.server.write(line);
      expect(String(await rig.heard.next())).toBe(line);
    }
    await hangUp(rig);
    const types = rig.events().map(({ type }) => type);
    expect(types).toEqual(['run_start', 'policy_loaded', 'run_end']);
  });

  it('includes a version that the two sides dispute', async () => {
    verifies('EC-STDIO-030', 'F-017');
    const rig = await startServed();
    rig.say(initialize(0, '2099-12-31'));
    expect(String(await rig.server.heard.next())).toBe(initialize(0, '2099-12-31'));
    await rig.server.write(answer(0, initialized('1999-01-01')));
    expect(String(await rig.heard.next())).toBe(answer(0, initialized('1999-01-01')));
    const error =
      '{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["x"]}}';
    rig.say(initialize(1, '2099-12-31'));
    await rig.server.heard.next();
    await rig.server.write(`{"jsonrpc":"2.0","id":1,"error":${error}}\n`);
    expect(String(await rig.heard.next())).toBe(`{"jsonrpc":"2.0","id":1,"error":${error}}\n`);
  });
});

/** A modern server is asked for its era before it gets the first call. */
async function answerEraQuestion(server: ServedRig['server'], version: string): Promise<void> {
  const question = String(await server.heard.next());
  const [, id] = /"id":("[^"]+"),"method":"server\/discover"/.exec(question) ?? [];
  if (id === undefined) throw new Error(`not asked for its era: ${question}`);
  const discovered = { resultType: 'complete', supportedVersions: [version], capabilities: {} };
  await server.write(answer(id, JSON.stringify(discovered)));
}

describe('a call', () => {
  it.each(REVISIONS)('is governed in %s, with the codes of its era', async (version) => {
    verifies('F-012', 'T-A1.3', 'IP-3.2', 'IP-7.1');
    const isModern = version === '2026-07-28';
    const rig = await startServed({ policy: EVERY_ACTION });
    if (!isModern) {
      rig.say(initialize(0, version));
      await rig.server.heard.next();
      await rig.server.write(answer(0, initialized(version)));
      await rig.heard.next();
    }
    const base = isModern ? -31080 : -32080;
    const say = (id: number, tool: string) =>
      rig.say(isModern ? modernCall(id, tool) : call(id, tool));
    say(1, 'free');
    if (isModern) await answerEraQuestion(rig.server, version);
    expect(String(await rig.server.heard.next())).toContain('"free"');
    for (const [at, tool] of ['block', 'throttle', 'hint'].entries()) {
      say(10 + at, tool);
      const code = base - at - 1;
      expect(await nextJson(rig.heard)).toMatchObject({ id: 10 + at, error: { code } });
    }
    await expectStillWorks(rig);
    say(13, 'terminate');
    expect(await nextJson(rig.heard)).toMatchObject({ id: 13, error: { code: base - 4 } });
    expect(await rig.exit).toEqual({ code: 3, signal: null });
    expect(await rig.server.heard.rest()).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('says its own era, whatever was said before', async () => {
    const rig = await startServed({ policy: DENIES });
    rig.say(modernCall(1, 'denied'));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { code: -31081 } });
    rig.say(modernCall(2, 'denied', '2025-11-25'));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 2, error: { code: -32081 } });
  });

  it('reaches the core with server, tool, arguments, size and transport', async () => {
    verifies('IP-7.1', 'IP-7.2', 'IP-7.3');
    const rig = await startServed({ policy: DENIES });
    const line = call(1, 'fine', '{"b":2,"a":{"y":1,"x":[true,null]}}');
    rig.say(line);
    await rig.server.heard.next();
    await rig.server.write(answer(1, '{"content":[]}'));
    await rig.heard.next();
    await hangUp(rig);
    const args_hash = createHash('sha256')
      .update('{"a":{"x":[true,null],"y":1},"b":2}')
      .digest('hex');
    const ref = { server_name: 'puppet', tool_name: 'fine', args_hash };
    expect(rig.events().find(({ type }) => type === 'tool_call_start')).toMatchObject({
      call: { ...ref, transport: 'mcp_stdio', bytes_in: line.length - 1, seq: 1 },
    });
    expect(rig.events().find(({ type }) => type === 'tool_call_decision')).toMatchObject({
      call: ref,
      decision: { action: 'ALLOW' },
    });
    expect(ended(rig.events())).toMatchObject([{ call: ref, status: 'OK' }]);
  });

  it('without an id is governed too, and never reaches the server when denied', async () => {
    verifies('IP-7.2');
    const rig = await startServed({ policy: DENIES });
    rig.say('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"denied"}}\n');
    await expectStillWorks(rig);
    await rig.told(/"reason":"call_without_id"/);
    await hangUp(rig);
    expect(ended(rig.events())).toMatchObject([
      { status: 'ERROR', error: { class: 'policy_block' } },
    ]);
  });
});

describe('the development profile', () => {
  it('lets a denied call pass, and records what production would have done', async () => {
    verifies('EC-STDIO-033', 'F-023', 'F-024');
    const rig = await startServed({ policy: DENIES, profile: 'development' });
    rig.say(call(1, 'denied'));
    expect(String(await rig.server.heard.next())).toBe(call(1, 'denied'));
    await rig.server.write(answer(1, '{"content":[]}'));
    expect(String(await rig.heard.next())).toBe(answer(1, '{"content":[]}'));
    await hangUp(rig);
    expect(rig.events().find(({ type }) => type === 'tool_call_decision')).toMatchObject({
      decision: {
        action: 'ALLOW',
        rule_id: 'no-denied',
        explain: { reason_code: 'WOULD_BLOCK' },
        would: { action: 'BLOCK', rule_id: 'no-denied', reason_code: 'DENIED' },
      },
    });
    for (const event of rig.events()) expect(event).toMatchObject({ profile: 'development' });
  });

  it('is not the default', async () => {
    verifies('F-022');
    const rig = await startServed({ policy: DENIES });
    rig.say(call(1, 'denied'));
    expect(await nextJson(rig.heard)).toMatchObject({ error: { code: -32081 } });
    await hangUp(rig);
    for (const event of rig.events()) expect(event).toMatchObject({ profile: 'production' });
  });
});

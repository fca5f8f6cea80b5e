// What is one message and what is none, on real pipes.
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { expectStillWorks, hangUp, type ServedRig, startServed } from './driver.ts';
import { jsonOf, nextJson } from './lines.ts';
import { answer, call, DENIES, initialize, initialized, ping } from './messages.ts';

beforeAll(() => ensureBuilt());

/** What the shim has told the operator so far, in short. */
function reports(rig: ServedRig): readonly string[] {
  const lines = rig.stderr().split('\n').filter(Boolean);
  return lines.map((line) =>
    ['from', 'what', 'reason']
      .map((key) => new RegExp(`"${key}":"(\\w+)"`).exec(line)?.[1])
      .join(' '),
  );
}

const utf8 = (head: string, bytes: readonly number[], tail: string) =>
  Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(tail)]);

describe('a line of the agent that is no message', () => {
  const unreadable = [
    ['text', 'hello there\n', 'json'],
    ['half an object', '{"jsonrpc":"2.0","method":"a"\n', 'json'],
    [
      'two objects on one line',
      '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}\n',
      'json',
    ],
    ['a byte order mark', `\uFEFF${ping(1)}`, 'json'],
    ['a NUL byte', `{"jsonrpc":"2.0","method":"a\0"}\n`, 'json'],
    ['a lone continuation byte', utf8('{"jsonrpc":"2.0","method":"', [0x80], '"}\n'), 'utf8'],
    ['an overlong slash', utf8('{"jsonrpc":"2.0","method":"a', [0xc0, 0xaf], '"}\n'), 'utf8'],
    [
      'half a surrogate pair',
      utf8('{"jsonrpc":"2.0","method":"a', [0xed, 0xa0, 0x80], '"}\n'),
      'utf8',
    ],
    [
      'a request and an answer at once',
      '{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}\n',
      'conflict',
    ],
    ['a number', '17\n', 'not_object'],
    ['neither method nor id', '{"jsonrpc":"2.0","params":{}}\n', 'shape'],
    ['no version', '{"method":"notifications/initialized"}\n', 'version'],
    ['another version', '{"jsonrpc":"1.0","method":"notifications/initialized"}\n', 'version'],
  ] as const;

  it('is dropped in production, told of, and the next line is read', async () => {
    verifies('F-013', 'EC-STDIO-015', 'EC-STDIO-016', 'EC-STDIO-017');
    const rig = await startServed();
    for (const [at, [, line]] of unreadable.entries()) {
      rig.say(line);
      await expectStillWorks(rig, at);
    }
    expect(await hangUp(rig)).toEqual({ exit: { code: 0, signal: null }, rest: [] });
    await rig.silent;
    expect(reports(rig)).toEqual(unreadable.map(([, , reason]) => `agent DROPPED ${reason}`));
  });

  it('passes in development, and is told of', async () => {
    verifies('EC-STDIO-017');
    const rig = await startServed({ profile: 'development' });
    for (const [at, [what, line]] of unreadable.entries()) {
      rig.say(line);
      expect(await rig.server.heard.next(), what).toEqual(Buffer.from(line));
      await expectStillWorks(rig, at);
    }
    await hangUp(rig);
    await rig.silent;
    expect(reports(rig)).toEqual(unreadable.map(([, , reason]) => `agent WOULD_DROP ${reason}`));
  });

  it.each([
    ['half an object', '{"jsonrpc":"2.0","id":7,"method":"ping"\n', -32700],
    ['no version', '{"id":7,"method":"ping"}\n', -32600],
    ['a key twice', '{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"}\n', -32600],
  ])('is answered when it has an id: %s', async (_what, line, code) => {
    verifies('F-013', 'EC-STDIO-016');
    const rig = await startServed();
    rig.say(line);
    expect(await nextJson(rig.heard)).toMatchObject({ id: 7, error: { code } });
    await expectStillWorks(rig);
  });

  it.each([
    ['a fraction', '1.5'],
    ['beyond all whole numbers', '1e300'],
    ['very long', `"${'x'.repeat(5_000)}"`],
  ])('does not leave its sender waiting when its id is %s', async (_what, id) => {
    verifies('F-013', 'F-015');
    const rig = await startServed();
    rig.say(ping(id));
    rig.say(ping('"after"'));
    // Forwarded or refused, but not swallowed.
    const first = await Promise.race([rig.heard.next(), rig.server.heard.next()]);
    expect(jsonOf(String(first))).toMatchObject({ id: jsonOf(id) });
  });
});

describe('a line of the server that is no message', () => {
  const unreadable = [
    ['a greeting', 'Server listening on stdio\n', 'json'],
    ['no version', '{"id":1,"result":{}}\n', 'version'],
    ['neither method nor id', '{"jsonrpc":"2.0"}\n', 'shape'],
    ['invalid UTF-8', utf8('{"jsonrpc":"2.0","method":"', [0xff, 0xfe], '"}\n'), 'utf8'],
    ['a byte order mark', `\uFEFF${answer(1)}`, 'json'],
  ] as const;

  it('never reaches the agent in production', async () => {
    verifies('F-013', 'EC-STDIO-015', 'EC-STDIO-016', 'EC-STDIO-017');
    const rig = await startServed();
    for (const [at, [, line]] of unreadable.entries()) {
      await rig.server.write(line);
      await expectStillWorks(rig, at);
    }
    await hangUp(rig);
    await rig.silent;
    expect(reports(rig)).toEqual(unreadable.map(([, , reason]) => `server DROPPED ${reason}`));
  });

  it('passes byte for byte in development', async () => {
    verifies('EC-STDIO-017');
    const rig = await startServed({ profile: 'development' });
    const line = utf8('{"jsonrpc":"2.0","method":"', [0xff, 0xfe], '"}\n');
    await rig.server.write(line);
    expect(await rig.heard.next()).toEqual(line);
    await rig.told(/WOULD_DROP/);
    await expectStillWorks(rig);
  });

  it('ends the request that it seems to answer', async () => {
    verifies('F-013', 'F-015');
    const rig = await startServed();
    rig.say(call(3, 'a'));
    await rig.server.heard.next();
    await rig.server.write('{"jsonrpc":"2.0","id":3,"result":{"content":[],"content":[]}}\n');
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 3,
      error: { code: -32603 },
    });
    await expectStillWorks(rig);
    await hangUp(rig);
    const end = rig.events().find(({ type }) => type === 'tool_call_end');
    expect(end).toMatchObject({ status: 'ERROR', error: { class: 'transport' } });
  });
});

describe('smuggling', () => {
  const hidden = (id: number) =>
    `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"isError":false}}`;

  it('an answer behind a raw newline reaches nobody in production', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const rig = await startServed();
    rig.say(call(1, 'a'));
    await rig.server.heard.next();
    await rig.server.write(`{"jsonrpc":"2.0","id":1,"result":{"text":"x\n${hidden(77)}\n"}}\n`);
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { code: -32603 } });
    await expectStillWorks(rig);
    await rig.told(/"reason":"json"/);
    await rig.told(/"reason":"unsolicited_answer"/);
    // The tail of the torn line is no message either.
    expect(rig.stderr().match(/"what":"(?:DROPPED|REJECTED)"/g)).toHaveLength(3);
  });

  it('a further message behind a carriage return is refused as an attack', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const rig = await startServed();
    const first = '{"jsonrpc":"2.0","method":"a","params":{}}';
    await rig.server.write(`${first}\r${hidden(77)}\n`);
    rig.say(`${first}\r${call(1, 'b')}`);
    await expectStillWorks(rig);
    await hangUp(rig);
    await rig.silent;
    expect([...reports(rig)].toSorted()).toEqual([
      'agent DROPPED smuggled',
      'server DROPPED smuggled',
    ]);
  });

  it('is only warned of in development', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const rig = await startServed({ profile: 'development' });
    rig.say(call(1, 'a'));
    await rig.server.heard.next();
    const lines = [`{"jsonrpc":"2.0","id":1,"result":{"text":"x\n`, `${hidden(77)}\n`];
    await rig.server.write(lines.join(''));
    for (const line of lines) expect(String(await rig.heard.next())).toBe(line);
    await rig.told(/WOULD_(?:DROP|REJECT)/);
    await expectStillWorks(rig);
  });

  it('of a tool name behind a duplicate key or an escape decides on what the server would take', async () => {
    verifies('F-014');
    const rig = await startServed({ policy: DENIES });
    const twice =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fine","name":"denied"}}\n';
    rig.say(twice);
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    const escaped =
      '{"jsonrpc":"2.0","id":2,"\\u006dethod":"tools\\u002fcall","params":{"n\\u0061me":"\\u0064enied"}}\n';
    rig.say(escaped);
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 2,
      error: { code: -32081 },
    });
    await expectStillWorks(rig);
  });
});

describe('the form of lines', () => {
  it('may be anything that JSON allows: CRLF, spaces and blank lines harm nobody', async () => {
    verifies('F-013');
    const rig = await startServed();
    const odd = '  \t{ "id" :\t1 ,"method":"ping"  ,"jsonrpc":"2.0" }  \r\n';
    rig.say(`\n\r\n  \n${odd}`);
    expect(String(await rig.server.heard.next())).toBe(odd);
    await rig.server.write(`\r\n\n${answer(1).trimEnd()} \r\n`);
    expect(String(await rig.heard.next())).toBe(`${answer(1).trimEnd()} \r\n`);
    await expectStillWorks(rig);
  });

  it('waits for the newline of a line that comes byte by byte', async () => {
    verifies('EC-STDIO-027', 'F-013');
    const rig = await startServed();
    rig.say(ping(1));
    await rig.server.heard.next();
    const line = answer(1, '{"content":[{"type":"text","text":"é 😀 \\u2028"}]}');
    await rig.server.tell('drip', { base64: Buffer.from(line).toString('base64') });
    expect(String(await rig.heard.next())).toBe(line);
    for (const byte of Buffer.from(call(2, 'é'))) rig.say(Buffer.of(byte));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'é'));
  });

  it('holds back half a line while everything else flows', async () => {
    verifies('EC-STDIO-027', 'F-012');
    const rig = await startServed({ policy: DENIES });
    rig.say(call(1, 'slow'));
    await rig.server.heard.next();
    const line = answer(1, '{"content":[]}');
    await rig.server.write(line.slice(0, 20));
    // The other direction goes on, and what we answer ourselves does not land inside the line.
    rig.say(call(2, 'denied'));
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 2,
      error: { code: -32081 },
    });
    await rig.server.write(line.slice(20));
    expect(String(await rig.heard.next())).toBe(line);
  });

  it('keeps half a line from the agent when the server dies in the middle of it', async () => {
    verifies('EC-STDIO-010', 'EC-STDIO-027', 'F-013');
    const rig = await startServed();
    rig.say(call(1, 'a'));
    await rig.server.heard.next();
    await rig.server.write('{"jsonrpc":"2.0","id":1,"result":{"content":[');
    rig.server.order('exit', { code: 5 });
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 1,
      error: { code: -32603 },
    });
    expect(await rig.heard.rest()).toEqual([]);
    expect(await rig.exit).toEqual({ code: 5, signal: null });
    await rig.told(/"reason":"partial"/);
  });

  it('keeps half a line from the server when the agent leaves in the middle of it', async () => {
    verifies('F-013');
    const rig = await startServed();
    rig.say(`${ping(1)}${call(2, 'a').trimEnd()}`);
    await rig.server.heard.next();
    rig.shim.stdin?.end();
    expect(await rig.server.heard.rest()).toEqual([]);
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    await rig.told(/"reason":"partial"/);
  });
});

describe('size', () => {
  const MIB = 1024 * 1024;
  const text = (bytes: number) => randomBytes(bytes / 2).toString('hex');

  it('of 5 MB in an answer changes nothing', async () => {
    verifies('EC-STDIO-032', 'IP-1.9.2', 'IP-6.2');
    const rig = await startServed();
    rig.say(call(1, 'fetch'));
    await rig.server.heard.next();
    const line = answer(1, `{"content":[{"type":"image","data":"${text(5_000_000)}"}]}`);
    await rig.server.write(line);
    const got = await rig.heard.next();
    expect(got.equals(Buffer.from(line))).toBe(true);
    await hangUp(rig);
    const end = rig.events().find(({ type }) => type === 'tool_call_end');
    const result_stream_hash = createHash('sha256').update(line.trimEnd()).digest('hex');
    expect(end).toMatchObject({ status: 'OK', bytes_out: line.length - 1, result_stream_hash });
  });

  it('of a large call arrives whole, and its events have the hash of its bytes', async () => {
    verifies('IP-1.9.2', 'IP-6.2');
    const rig = await startServed();
    const line = call(1, 'put', `{"data":"${text(3 * MIB)}"}`);
    rig.say(line);
    const got = await rig.server.heard.next();
    expect(got.equals(Buffer.from(line))).toBe(true);
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    await hangUp(rig);
    const args_hash = createHash('sha256').update(line.trimEnd()).digest('hex');
    const start = rig.events().find(({ type }) => type === 'tool_call_start');
    expect(start).toMatchObject({
      call: {
        args_hash,
        args_stream_hash: args_hash,
        bytes_in: line.length - 1,
        preview: { truncated: true },
      },
    });
  });

  it('above the cap is answered, no message of it reaches the server, and the stream goes on', async () => {
    verifies('EC-STDIO-014', 'F-013');
    const rig = await startServed();
    rig.say(call(1, 'put', `{"data":"${text(10 * MIB)}"}`));
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    // It was on its way when it turned out to be too large: what came of it is no JSON.
    const torn = String(await rig.server.heard.next());
    expect(torn.length).toBeLessThan(10.1 * MIB);
    expect(() => jsonOf(torn)).toThrow(SyntaxError);
    await expectStillWorks(rig);
    await rig.told(/"reason":"too_large"/);
  });

  it('above the cap from the server becomes an error, and the stream goes on', async () => {
    verifies('EC-STDIO-014', 'F-013');
    const env = { SUB_MAX_INSPECT_BYTES: '1024', SUB_MAX_MESSAGE_BYTES: '4096' };
    const rig = await startServed({ env });
    rig.say(call(1, 'fetch'));
    await rig.server.heard.next();
    await rig.server.write(answer(1, `{"content":[{"type":"text","text":"${text(8_000)}"}]}`));
    const torn = String(await rig.heard.next());
    expect(() => jsonOf(torn)).toThrow(SyntaxError);
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 1,
      error: { code: -32603 },
    });
    await expectStillWorks(rig);
    await hangUp(rig);
    const end = rig.events().find(({ type }) => type === 'tool_call_end');
    expect(end).toMatchObject({ status: 'ERROR' });
  });

  it('of an answer that still streams keeps our own answers out of its line', async () => {
    verifies('F-012');
    const rig = await startServed({ policy: DENIES });
    rig.say(call(1, 'fetch'));
    await rig.server.heard.next();
    const line = answer(1, `{"content":[{"type":"text","text":"${text(3 * MIB)}"}]}`);
    await rig.server.write(line.slice(0, 2 * MIB));
    // Its first part is on its way to the agent; a refusal must wait for its end.
    rig.say(call(2, 'denied'));
    rig.say(ping(3));
    expect(String(await rig.server.heard.next())).toBe(ping(3));
    await rig.server.write(line.slice(2 * MIB));
    const lines = [await rig.heard.next(), await rig.heard.next()];
    const other = lines.filter((one) => !one.equals(Buffer.from(line)));
    expect(other.map((one) => jsonOf(String(one)))).toMatchObject([{ id: 2, error: {} }]);
  });

  it('hides nothing behind a carriage return, where some servers end a line', async () => {
    verifies('F-014', 'EC-STDIO-018');
    const rig = await startServed({ policy: DENIES });
    const hidden = call(9, 'denied').trimEnd().replaceAll('"', '\\"');
    rig.say(call(1, 'put', `{"data":"${text(3 * MIB)}","q":"\r${hidden}\r"}`));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { code: -32600 } });
    const reached = String(await rig.server.heard.next());
    expect(reached).not.toContain('denied');
    expect(() => jsonOf(reached)).toThrow(SyntaxError);
    await expectStillWorks(rig);
  });

  it('that stalls does not keep others from their answers', async () => {
    verifies('F-012');
    const rig = await startServed({ policy: DENIES });
    rig.say(call(1, 'fetch'));
    await rig.server.heard.next();
    const line = answer(1, `{"content":[{"type":"text","text":"${text(3 * MIB)}"}]}`);
    await rig.server.write(line.slice(0, 2 * MIB));
    rig.say(call(2, 'denied'));
    const broken = String(await rig.heard.next());
    expect(() => jsonOf(broken)).toThrow(SyntaxError);
    expect(await nextJson(rig.heard)).toMatchObject({ id: 2, error: { code: -32081 } });
    await rig.server.write(line.slice(2 * MIB));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: { code: -32603 } });
    await expectStillWorks(rig);
  });

  it('above the cap passes in development', async () => {
    const env = { SUB_MAX_INSPECT_BYTES: '1024', SUB_MAX_MESSAGE_BYTES: '4096' };
    const rig = await startServed({ env, profile: 'development' });
    const line = call(1, 'put', `{"data":"${text(8_000)}"}`);
    rig.say(line);
    expect(String(await rig.server.heard.next())).toBe(line);
  });
});

describe('a batch', () => {
  const batch = (...lines: readonly string[]) =>
    `[${lines.map((line) => line.trimEnd()).join(',')}]\n`;
  const all = batch(
    call(1, 'fine'),
    call(2, 'denied'),
    '{"jsonrpc":"2.0","method":"notifications/x"}',
  );

  async function negotiate(rig: ServedRig, version: string): Promise<void> {
    rig.say(initialize(0, version));
    await rig.server.heard.next();
    await rig.server.write(answer(0, initialized(version)));
    await rig.heard.next();
  }

  it.each(['nothing', '2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'])(
    'is refused where %s was negotiated, and each request in it is answered',
    async (version) => {
      verifies('F-007b', 'EC-STDIO-035');
      const rig = await startServed({ policy: DENIES });
      if (version !== 'nothing') await negotiate(rig, version);
      rig.say(all);
      const answers = [await rig.heard.next(), await rig.heard.next()];
      const ids = answers.map((line) => jsonOf(String(line)));
      expect(ids).toMatchObject([
        { id: 1, error: { code: -32600 } },
        { id: 2, error: { code: -32600 } },
      ]);
      await expectStillWorks(rig);
      await rig.told(/"reason":"batch"/);
    },
  );

  it('is governed one by one where 2025-03-26 was negotiated', async () => {
    verifies('EC-STDIO-035');
    const rig = await startServed({ policy: DENIES });
    await negotiate(rig, '2025-03-26');
    rig.say(all);
    expect(await nextJson(rig.heard)).toMatchObject({
      id: 2,
      error: { code: -32081 },
    });
    const passed = await nextJson(rig.server.heard);
    expect(passed).toMatchObject([{ id: 1 }, { method: 'notifications/x' }]);
    const answers = batch(answer(1, '{"content":[]}'));
    await rig.server.write(answers);
    expect(String(await rig.heard.next())).toBe(answers);
    await hangUp(rig);
    const ends = rig.events().filter(({ type }) => type === 'tool_call_end');
    expect(ends).toMatchObject([{ status: 'ERROR' }, { status: 'OK' }]);
  });

  it('of the server is dropped, unless it was negotiated', async () => {
    verifies('EC-STDIO-035');
    const rig = await startServed();
    await rig.server.write(batch('{"jsonrpc":"2.0","method":"notifications/x"}'));
    await expectStillWorks(rig);
    await rig.told(/"reason":"batch"/);
  });
});

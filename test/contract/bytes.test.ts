// What passes, passes as the very same bytes: recorded conversations of every revision, ids of
// every kind, and forms that no serialiser would write.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { hangUp, type ServedRig, startServed } from './driver.ts';
import { jsonOf } from './lines.ts';
import { answer, call, DENIES, ping, REVISIONS } from './messages.ts';

beforeAll(() => ensureBuilt());

interface Turn {
  readonly from: 'agent' | 'server';
  readonly line: Buffer;
}

/** `> ` begins what the agent says, `< ` what the server says. */
function conversation(revision: string): readonly Turn[] {
  const text = readFileSync(new URL(`corpus/${revision}.txt`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({
      from: line.startsWith('>') ? 'agent' : 'server',
      line: Buffer.from(`${line.slice(2)}\n`),
    }));
}

/** Says a line on one side and gives what the other side hears. */
async function passed(rig: ServedRig, { from, line }: Turn): Promise<Buffer> {
  if (from === 'server') await rig.server.write(line);
  else rig.say(line);
  return from === 'server' ? rig.heard.next() : rig.server.heard.next();
}

/** The same in many pieces. */
async function dripped(rig: ServedRig, { from, line }: Turn): Promise<Buffer> {
  if (from === 'server') await rig.server.tell('drip', { base64: line.toString('base64') });
  else for (let at = 0; at < line.length; at += 7) rig.say(line.subarray(at, at + 7));
  return from === 'server' ? rig.heard.next() : rig.server.heard.next();
}

describe('a recorded conversation', () => {
  it.each(REVISIONS)('of %s arrives byte for byte in both directions', async (revision) => {
    verifies('F-012', 'F-017', 'EC-STDIO-019');
    const turns = conversation(revision);
    expect(turns.length).toBeGreaterThan(8);
    const rig = await startServed({ policy: DENIES });
    for (const turn of turns) expect(String(await passed(rig, turn))).toBe(String(turn.line));
    expect((await hangUp(rig)).rest).toEqual([]);
    // Nothing of it was found fault with.
    expect(rig.stderr()).toBe('');
    const calls = turns.filter(({ line }) => line.includes('"tools/call"')).length;
    const decisions = rig.events().filter(({ type }) => type === 'tool_call_decision');
    expect(decisions).toHaveLength(calls);
  });

  it.each(['production', 'development'] as const)(
    'may come in any pieces and with any line ends, in %s',
    async (profile) => {
      verifies('F-013', 'EC-STDIO-027');
      const rig = await startServed({ profile });
      for (const { from, line } of conversation('2025-06-18')) {
        const crlf = Buffer.from(`${String(line).trimEnd()}\r\n`);
        expect(await dripped(rig, { from, line: crlf })).toEqual(crlf);
      }
    },
  );
});

describe('ids', () => {
  const long = `"${'x'.repeat(900)}"`;
  it('of every kind come back as they were written', async () => {
    verifies('F-015');
    const rig = await startServed({ policy: DENIES });
    const ids = ['0', '1', '-1', '2147483648', '9007199254740993', '-99999999999999999999'];
    const texts = ['""', '"0"', '"a b"', '"é😀"', '"\\u00e9\\ud83d\\ude00"', '"\\"\\\\\\/"', long];
    for (const id of [...ids, ...texts]) {
      for (const request of [ping(id), call(id, 'fine')]) {
        rig.say(request);
        expect(String(await rig.server.heard.next())).toBe(request);
        await rig.server.write(answer(id));
        expect(String(await rig.heard.next())).toBe(answer(id));
      }
      rig.say(call(id, 'denied'));
      const told = String(await rig.heard.next());
      expect(jsonOf(told)).toMatchObject({ id: jsonOf(id), error: { code: -32081 } });
    }
    await hangUp(rig);
    expect(rig.stderr()).toBe('');
  });

  it.each([
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['"\\u0041"', '"A"'],
    ['"\\/"', '"/"'],
    ['"é"', '"\\u00e9"'],
  ])('%s may be answered as %s, as serialisers do', async (asked, told) => {
    verifies('F-015');
    const rig = await startServed();
    rig.say(ping(asked));
    rig.say(ping('"after"'));
    expect(String(await rig.server.heard.next())).toBe(ping(asked));
    await rig.server.write(answer(told));
    expect(String(await rig.heard.next())).toBe(answer(told));
  });
});

describe('odd forms', () => {
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const forms: readonly (readonly [what: string, line: string])[] = [
    ['spaces everywhere', '\t { "jsonrpc"\t:"2.0" ,  "method" : "x" , "params" : { } } \t'],
    [
      'unknown fields',
      '{"jsonrpc":"2.0","method":"x","ext":{"a":[1,{"b":null}]},"params":{"é":1}}',
    ],
    ['escaped keys', '{"json\\u0072pc":"2.0","m\\u0065thod":"x"}'],
    [
      'numbers that doubles cannot hold',
      '{"jsonrpc":"2.0","method":"x","params":{"n":1e400,"m":0.1000000000000000055}}',
    ],
    ['surrogates in escapes', '{"jsonrpc":"2.0","method":"x","params":{"s":"\\ud800 \\udc00"}}'],
    [
      'all of Unicode',
      `{"jsonrpc":"2.0","method":"x","params":{"s":"\u007f\u0085\u2028\ufeff\u{10ffff}"}}`,
    ],
    ['params in a list', '{"jsonrpc":"2.0","method":"x","params":[1,2]}'],
    ['no params', '{"jsonrpc":"2.0","method":"x","params":null}'],
    ['depth', `{"jsonrpc":"2.0","method":"x","params":{"d":${deep(60)}}}`],
    ['a long method', `{"jsonrpc":"2.0","method":"${'m'.repeat(900)}"}`],
  ];

  it('pass both ways as they are', async () => {
    verifies('F-013', 'F-017');
    const rig = await startServed();
    for (const [what, line] of forms) {
      rig.say(`${line}\n`);
      expect(String(await rig.server.heard.next()), what).toBe(`${line}\n`);
      await rig.server.write(`${line}\n`);
      expect(String(await rig.heard.next()), what).toBe(`${line}\n`);
    }
    expect(rig.stderr()).toBe('');
  });
});

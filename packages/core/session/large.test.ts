import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { dedupe, deny } from '../policy/testing/scenario.ts';
import { Capped, send } from './large.test-support.ts';
import {
  answersOf,
  bytesOf,
  call,
  eventsOf,
  inShort,
  play,
  readHeadOnce,
  request,
  result,
  toyHash,
} from './playbook.test-support.ts';

import { BROKEN_LINE_END, type Command } from './types.ts';

const BLOB = 'x'.repeat(1_000);

/** As the official client writes it: the id comes last. */
const idLast = (id: unknown, name: string, args: unknown) => ({
  method: 'tools/call',
  params: { name, arguments: args },
  jsonrpc: '2.0',
  id,
});

describe('a carriage return in a large message', () => {
  const hidden = JSON.stringify(call(7, 'rm'));
  const withReturn = (blob: string) =>
    `{"method":"tools/call","params":{"name":"put","arguments":{"a":"${BLOB}","b":${blob}}},"jsonrpc":"2.0","id":1}`;

  it.each([
    ['inside of a string', `"x\r${hidden.replaceAll('"', '\\"')}\r"`],
    ['between values', `[\r${hidden}\r]`],
    ['alone', '[\r]'],
  ])('breaks it off before what stands behind it has passed: %s', async (_where, blob) => {
    verifies('F-014', 'EC-STDIO-018');
    const one = await play();
    const sent = inShort(send(one, 'agent', withReturn(blob)));
    expect(sent.slice(0, 2)).toEqual(['stream to server', 'break to server']);
    expect(sent).toContain('report REJECTED smuggled');
    expect(sent).toContain('answer 1 -32600');
    expect(sent).not.toContain('finish to server');
  });

  it('is not even begun when its head has one', async () => {
    const one = await play();
    const sent = inShort(
      send(one, 'agent', `{"a":\r1,${JSON.stringify(call(1, 'put', BLOB)).slice(1)}`),
    );
    expect(sent[0]).toBe('swallow');
    expect(sent).toContain('report REJECTED smuggled');
  });

  it('is reported in development, and passes', async () => {
    const one = await play([], { profile: 'development' });
    const sent = inShort(send(one, 'agent', withReturn('[\r1]')));
    expect(sent).toContain('report WOULD_REJECT smuggled');
    expect(sent.at(-1)).toBe('finish to server');
  });

  it('may stand before the newline', async () => {
    const one = await play();
    expect(inShort(send(one, 'agent', `${withReturn('1')}\r`)).at(-1)).toBe('finish to server');
  });
});

/** What the other side gets to see. */
function written(commands: readonly Command[], to: 'agent' | 'server'): string {
  return commands
    .flatMap((command) => {
      if (command.do === 'break') return command.to === to ? [BROKEN_LINE_END] : [];
      const isPart = command.do === 'stream' || command.do === 'part' || command.do === 'finish';
      if (!isPart || command.to !== to) return [];
      return [Buffer.from(command.bytes).toString(), ...(command.do === 'finish' ? ['\n'] : [])];
    })
    .join('');
}

describe('the end of a large message', () => {
  const honest = JSON.stringify(idLast(1, 'put', { blob: BLOB }));

  it.each(['', ' ', '\r', '\t \r'])('passes with the white space behind it: %j', async (tail) => {
    const one = await play();
    expect(written(send(one, 'agent', `${honest}${tail}`), 'server')).toBe(`${honest}${tail}\n`);
  });

  it.each([
    ['a second message', JSON.stringify(call(2, 'rm'))],
    ['a second message behind a space', ` ${JSON.stringify(call(2, 'rm'))}`],
    ['a form feed', '\f'],
    ['a line separator', '\u2028'],
    ['a brace', '}'],
    ['white space without end', ' '.repeat(3_000)],
  ])('is held back when there is more: %s', async (_what, tail) => {
    verifies('F-014');
    const one = await play();
    const sent = send(one, 'agent', `${honest}${tail}`);
    const seen = written(sent, 'server');
    expect(inShort(sent)).toContain('answer 1 -32700');
    expect(inShort(sent)).toContain('decision BLOCK INVALID_CALL');
    expect(seen.endsWith(BROKEN_LINE_END)).toBe(true);
    const passed = seen.slice(0, -BROKEN_LINE_END.length);
    expect(honest.startsWith(passed)).toBe(true);
    expect(passed.length).toBeLessThan(honest.length);
  });

  it('is held back when its id is in use, or when it is unsolicited', async () => {
    const one = await play();
    one.sendInShort('agent', call(1, 'a'));
    expect(written(send(one, 'agent', honest), 'server')).toBe(
      `${honest.slice(0, -1)}${BROKEN_LINE_END}`,
    );
    const answer = JSON.stringify({ jsonrpc: '2.0', result: { text: BLOB }, id: 9 });
    const heard = written(send(one, 'server', answer), 'agent');
    expect(heard).toBe(`${answer.slice(0, -1)}${BROKEN_LINE_END}`);
  });

  it('is held back when a key of the protocol comes in other letters', async () => {
    const one = await play();
    const late = `${honest.slice(0, -1)},"Params":{"name":"rm"}}`;
    const sent = send(one, 'agent', late);
    expect(inShort(sent)).toContain('report REJECTED folded_key');
    expect(inShort(sent)).toContain('answer 1 -32600');
    expect(written(sent, 'server')).not.toContain('rm');
  });

  it('passes in development, whatever stands behind it', async () => {
    const one = await play([], { profile: 'development' });
    const line = `${honest}${JSON.stringify(call(2, 'rm'))}`;
    const sent = send(one, 'agent', line);
    expect(written(sent, 'server')).toBe(`${line}\n`);
    expect(inShort(sent)).toContain('report WOULD_REJECT json');
  });
});

it('a large answer that does not go on is broken off, and its request is answered', async () => {
  const one = await play();
  one.sendInShort('agent', call(1, 'get'));
  const line = bytesOf(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: BLOB } }));
  const { session } = one;
  expect(
    inShort(session.handle(readHeadOnce(session, 'server', line.subarray(0, 300)), 0)),
  ).toEqual(['stream to agent']);
  expect(inShort(session.largeStalled('server'))).toEqual(['break to agent']);
  expect(session.largeStalled('server')).toEqual([]);
  expect(session.largePiece('server', line.subarray(300))).toEqual([]);
  const end = { outcome: 'complete', bytesTotal: line.length, streamHash: toyHash('x') } as const;
  expect(inShort(session.largeEnd('server', end, 5))).toContain('answer 1 -32603');
});

describe('a large call', () => {
  it('is streamed, and recorded with the hash of its bytes before its end passes', async () => {
    verifies('IP-1.10', 'IP-1.9.2', 'T-A2.4');
    const one = await play();
    const message = idLast(1, 'put', { blob: BLOB });
    const sent = send(one, 'agent', message);
    expect(inShort(sent)).toEqual([
      'stream to server',
      'start put',
      'decision ALLOW DEFAULT_ALLOW',
      'finish to server',
    ]);
    const hash = toyHash(JSON.stringify(message));
    expect(eventsOf(sent, 'tool_call_start')[0]?.call).toMatchObject({
      args_hash: hash,
      args_stream_hash: hash,
      bytes_in: JSON.stringify(message).length,
      preview: { truncated: true },
    });
    expect(one.sendInShort('server', result(1))).toEqual(['end OK', 'forward to agent']);
  });

  it('is refused by name, and its parts go nowhere', async () => {
    verifies('T-A1.3', 'IP-1.10');
    const one = await play([deny('w', { tool_name: { glob: ['put'] } })]);
    const sent = send(one, 'agent', idLast('a', 'put', { blob: BLOB }));
    expect(inShort(sent)).toEqual([
      'swallow',
      'start put',
      'decision BLOCK DENYLIST_MATCH',
      'end ERROR',
      'answer "a" -32081',
      'drop refused',
    ]);
    expect(one.session.openRequests('agent')).toBe(0);
  });

  it('is refused when a rule needs the arguments, which were not read', async () => {
    const one = await play([deny('w', { args: { has_keys: ['force'] } })]);
    expect(inShort(send(one, 'agent', call(1, 'put', { blob: BLOB })))).toContain(
      'decision BLOCK ARGS_NOT_INSPECTED',
    );
  });

  it('is known again by the beginning of its arguments', async () => {
    const one = await play([dedupe('once', { window_ms: 1_000 })]);
    const blob = (first: string) => ({ a: first.repeat(400) });
    expect(inShort(send(one, 'agent', idLast(1, 'put', blob('x'))))).toContain('finish to server');
    expect(inShort(send(one, 'agent', idLast(2, 'put', blob('y'))))).toContain('finish to server');
    expect(inShort(send(one, 'agent', idLast(3, 'put', blob('x'))))).toContain(
      'decision BLOCK DUPLICATE_CALL',
    );
  });

  it('is refused when its head does not show what it is', async () => {
    const late = `{"params":{"arguments":{"blob":"${BLOB}"},"name":"put"},"method":"tools/call","jsonrpc":"2.0","id":7}`;
    const one = await play();
    expect(inShort(send(one, 'agent', late))).toEqual([
      'swallow',
      'start (unreadable)',
      'decision BLOCK INVALID_CALL',
      'end ERROR',
      'report REJECTED not_inspectable',
      'answer 7 -32600',
      'drop not_inspectable',
    ]);
    const lenient = await play([], { profile: 'development' });
    expect(inShort(send(lenient, 'agent', late))).toEqual([
      'stream to server',
      'start (unreadable)',
      'decision ALLOW WOULD_BLOCK',
      'end ERROR',
      'finish to server',
    ]);
  });

  it('cannot change its name behind the head', async () => {
    verifies('F-014');
    const one = await play([deny('w', { tool_name: { glob: ['rm'] } })]);
    const sent = send(
      one,
      'agent',
      `{"method":"tools/call","params":{"name":"put","arguments":{"a":"${BLOB}"},"n\\u0061me":"rm"},"jsonrpc":"2.0","id":1}`,
    );
    expect(inShort(sent)).toEqual([
      'stream to server',
      'break to server',
      'start put',
      'decision BLOCK INVALID_CALL',
      'end ERROR',
      'report REJECTED duplicate_key',
      'answer 1 -32600',
      'drop duplicate_key',
    ]);
  });

  it('may not use an id that is still open', async () => {
    const one = await play();
    one.sendInShort('agent', call(1, 'a'));
    const sent = inShort(send(one, 'agent', idLast(1, 'put', { blob: BLOB })));
    expect(sent).toContain('answer 1 -32600');
    expect(sent.slice(0, 2)).toEqual(['stream to server', 'break to server']);
  });

  it('beyond the cap is answered and broken off, in every profile', async () => {
    verifies('EC-STDIO-014');
    for (const profile of ['production', 'development'] as const) {
      const one = await play([], { profile });
      const sent = send(one, 'agent', new Capped(call(4, 'put', { blob: BLOB }), 500));
      expect(answersOf(sent)[0]).toMatchObject({ id: 4, error: { code: -32600 } });
      expect(inShort(sent).slice(0, 2)).toEqual(['stream to server', 'break to server']);
      expect(one.session.openRequests('agent')).toBe(0);
      expect(one.sendInShort('agent', call(5, 'a'))).toContain('forward to server');
    }
  });

  it('is answered when the server has gone', async () => {
    verifies('EC-STDIO-010');
    const one = await play();
    one.session.serverExited({ started: true, signal: 'SIGKILL' }, 0);
    expect(inShort(send(one, 'agent', idLast(1, 'put', { blob: BLOB })))).toEqual([
      'swallow',
      'start put',
      'decision ALLOW DEFAULT_ALLOW',
      'end ERROR',
      'answer 1 -32603',
      'drop no_server',
    ]);
    expect(inShort(send(one, 'agent', request(2, 'x', { blob: BLOB })))).toEqual([
      'swallow',
      'answer 2 -32603',
      'drop no_server',
    ]);
  });
});

describe('a large answer', () => {
  const large = (id: unknown, rest: object = {}) => ({
    result: { content: [{ type: 'text', text: BLOB }], ...rest },
    jsonrpc: '2.0',
    id,
  });

  it('passes as it comes and ends its call with the hash of its bytes', async () => {
    verifies('IP-1.10', 'IP-1.9.2', 'EC-STDIO-032', 'T-A2.4');
    const one = await play();
    one.sendInShort('agent', call(1, 'get'));
    const message = large(1);
    const got = send(one, 'server', message);
    expect(inShort(got)).toEqual(['stream to agent', 'end OK', 'finish to agent']);
    expect(eventsOf(got, 'tool_call_end')[0]).toMatchObject({
      bytes_out: JSON.stringify(message).length,
      result_stream_hash: toyHash(JSON.stringify(message)),
      preview: { truncated: true },
    });
  });

  it('is known to have failed, though that comes last', async () => {
    const one = await play();
    one.sendInShort('agent', call(1, 'get'));
    expect(inShort(send(one, 'server', large(1, { isError: true })))).toContain('end ERROR');
  });

  it('that is unsolicited is broken off', async () => {
    verifies('F-015');
    const one = await play();
    expect(inShort(send(one, 'server', large(9)))).toEqual([
      'stream to agent',
      'break to agent',
      'report DROPPED unsolicited_answer',
      'drop unsolicited_answer',
    ]);
  });

  it('beyond the cap is replaced by an error', async () => {
    verifies('EC-STDIO-014');
    const one = await play();
    one.sendInShort('agent', call(1, 'get'));
    const { result: blob } = large(1);
    const message = { jsonrpc: '2.0', id: 1, result: blob };
    expect(inShort(send(one, 'server', new Capped(message, 500)))).toEqual([
      'stream to agent',
      'break to agent',
      'end ERROR',
      'report REJECTED too_large',
      'answer 1 -32603',
      'drop too_large',
    ]);
  });
});

describe('other large messages', () => {
  it('are matched like small ones', async () => {
    verifies('EC-STDIO-019');
    const one = await play();
    expect(inShort(send(one, 'agent', request(1, 'completion/complete', { blob: BLOB })))).toEqual([
      'stream to server',
      'finish to server',
    ]);
    expect(one.sendInShort('server', result(1))).toEqual(['forward to agent']);
    expect(
      inShort(send(one, 'server', request(1, 'sampling/createMessage', { blob: BLOB }))),
    ).toEqual(['stream to agent', 'finish to agent']);
    const answer = { result: { blob: BLOB }, jsonrpc: '2.0', id: 1 };
    expect(inShort(send(one, 'agent', answer))).toEqual(['stream to server', 'finish to server']);
    expect(inShort(send(one, 'agent', answer)).slice(0, 2)).toEqual([
      'stream to server',
      'break to server',
    ]);
  });

  it('are refused as batches', async () => {
    verifies('F-007b');
    const one = await play();
    expect(inShort(send(one, 'agent', [request(1, 'x', { blob: BLOB })]))).toEqual([
      'swallow',
      'start (unreadable)',
      'decision BLOCK INVALID_CALL',
      'end ERROR',
      'report DROPPED batch',
      'drop batch',
    ]);
  });
});

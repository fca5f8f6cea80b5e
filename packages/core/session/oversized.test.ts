import { describe, expect, it } from 'vitest';
import { asksFor, guardOf, refused, SAME, stops } from './guard.test-support.ts';
import type { GateVerdict, Guard, GuardedCall } from './guard.ts';
import { send } from './large.test-support.ts';
import { people } from './people.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';

const BLOB = 'x'.repeat(1_000);
const NOT_SEEN = 'UNSEEN';
const LARGE = { content: BLOB };

/** What may not pass unseen: these, as `way kind method`. */
function blind(...barred: readonly string[]): Guard {
  return guardOf({
    wants: () => true,
    unseen: (way, kind, method) =>
      barred.includes(`${way} ${kind} ${method}`) ? refused(NOT_SEEN) : SAME,
  });
}

const withGuard = (guard: Guard) => play([], { config: { guard } });
/** As the official servers write it: the id comes last. */
const idLast = (id: unknown, value: unknown) => ({ result: value, jsonrpc: '2.0', id });

describe('a large call', () => {
  it('is shown to the gates without its arguments', async () => {
    const seen: unknown[] = [];
    const content = ({ args, tool }: GuardedCall): GateVerdict => {
      seen.push([tool, args]);
      return { kind: 'pass' };
    };
    const heard: string[] = [];
    const guard = guardOf({ content, passed: ({ callId }) => heard.push(callId) });
    const one = await withGuard(guard);
    expect(inShort(send(one, 'agent', call(1, 'put', LARGE)))).toEqual([
      'stream to server',
      'start put',
      'decision ALLOW DEFAULT_ALLOW',
      'finish to server',
    ]);
    expect(seen).toEqual([['put', undefined]]);
    expect(heard).toEqual(['call-1']);
  });

  it.each([
    ['stops', stops('gate:leak'), 'decision BLOCK BY_LEAK'],
    ['asks for a person', asksFor('gate:leak'), 'decision BLOCK APPROVAL_UNAVAILABLE'],
    [
      'would replace what nobody has read',
      (): GateVerdict => ({ kind: 'pass', args: {} }),
      'decision BLOCK CONTENT_BLOCKED',
    ],
  ])('is refused where a gate %s', async (_what, content, decision) => {
    const config = { guard: guardOf({ content }), approver: people() };
    const one = await play([], { mode: 'control', config });
    const sent = inShort(send(one, 'agent', call(1, 'put', LARGE)));
    expect(sent[0]).toBe('swallow');
    expect(sent).toContain(decision);
    expect(sent).not.toContain('finish to server');
  });
});

describe('a large message that is no call', () => {
  it('streams as it did where the guard does not mind', async () => {
    const one = await withGuard(blind());
    one.send('agent', request(1, 'resources/read'));
    expect(inShort(send(one, 'server', result(1, LARGE)))).toEqual([
      'stream to agent',
      'finish to agent',
    ]);
    expect(inShort(send(one, 'agent', request(2, 'x/y', LARGE)))).toEqual([
      'stream to server',
      'finish to server',
    ]);
  });

  it('of the agent is swallowed, and answered at its end', async () => {
    const one = await withGuard(blind('out request x/y'));
    expect(inShort(send(one, 'agent', request(2, 'x/y', LARGE)))).toEqual([
      'swallow',
      'start x/y',
      'decision BLOCK UNSEEN',
      'end ERROR',
      'answer 2 -32081',
      'drop refused',
    ]);
    expect(one.session.openRequests('agent')).toBe(0);
  });

  it('of the server is swallowed, and answered to the server', async () => {
    const one = await withGuard(blind('in request sampling/createMessage'));
    const asked = request('s', 'sampling/createMessage', LARGE);
    expect(inShort(send(one, 'server', asked))).toEqual([
      'swallow',
      'report REJECTED refused',
      'answer "s" -32602 to server',
      'drop refused',
    ]);
  });

  it('is an answer whose request is known from its head: swallowed', async () => {
    const one = await withGuard(blind('in answer tools/call'));
    one.send('agent', call(1, 'read'));
    one.send('agent', request(2, 'resources/read'));
    const sent = send(one, 'server', result(1, LARGE));
    expect(inShort(sent)).toEqual([
      'swallow',
      'end ERROR',
      'report REJECTED refused',
      'answer 1 isError',
      'drop refused',
    ]);
    expect(answersOf(sent)[0]).toMatchObject({
      result: { _meta: { subluminal: { reason_code: NOT_SEEN } } },
    });
    expect(inShort(send(one, 'server', result(2, LARGE)))).toEqual([
      'stream to agent',
      'finish to agent',
    ]);
  });

  it('is an answer whose id comes last: swallowed while any open request may not have it', async () => {
    const one = await withGuard(blind('in answer tools/call'));
    one.send('agent', request(2, 'resources/read'));
    one.send('agent', call(1, 'read'));
    expect(inShort(send(one, 'server', idLast(1, LARGE)))).toEqual([
      'swallow',
      'end ERROR',
      'report REJECTED refused',
      'answer 1 isError',
      'drop refused',
    ]);
    expect(inShort(send(one, 'server', idLast(2, LARGE)))).toEqual([
      'stream to agent',
      'finish to agent',
    ]);
  });

  it('is swallowed at once if no open request may have this answer', async () => {
    const one = await withGuard(blind('in answer tools/call'));
    one.send('agent', call(1, 'read'));
    expect(inShort(send(one, 'server', idLast(1, LARGE)))[0]).toBe('swallow');
  });

  it('is an answer of the agent: the server gets an error instead', async () => {
    const one = await withGuard(blind('out answer sampling/createMessage'));
    one.send('server', request('s', 'sampling/createMessage'));
    expect(inShort(send(one, 'agent', result('s', LARGE)))).toEqual([
      'swallow',
      'report REJECTED refused',
      'answer "s" -32603 to server',
      'drop refused',
    ]);
  });

  it('is swallowed if only its end shows that it is a notification', async () => {
    const one = await withGuard(blind('in notification notifications/message'));
    const note = { jsonrpc: '2.0', method: 'notifications/message', params: LARGE };
    expect(inShort(send(one, 'server', note))).toEqual([
      'swallow',
      'report DROPPED refused',
      'drop refused',
    ]);
  });

  it.each([
    ['its method comes last', `{"jsonrpc":"2.0","params":{"a":"${BLOB}"},"method":"n/x"}`],
    ['nobody knows what it is about', `{"x":"${BLOB}","jsonrpc":"2.0","method":"n/x"}`],
    ['it is no message', `{"x":"${BLOB}"}`],
    ['it is a batch', `[{"jsonrpc":"2.0","method":"n/x","params":{"a":"${BLOB}"}}]`],
    ['its result comes late', `{"x":"${BLOB}","result":{},"jsonrpc":"2.0","id":1}`],
    ['it answers nothing', `{"id":9,"result":{"a":"${BLOB}"},"jsonrpc":"2.0"}`],
    ['it answers nobody', `{"id":null,"error":{"code":1,"message":"${BLOB}"},"jsonrpc":"2.0"}`],
  ])('is never streamed where all must be seen and %s', async (_why, line) => {
    const guard = guardOf({ wants: () => true, unseen: () => refused(NOT_SEEN) });
    for (const profile of ['production', 'development'] as const) {
      const one = await play([], { profile, config: { guard } });
      one.send('agent', call(1, 'read'));
      const sent = inShort(send(one, 'server', line));
      expect(sent[0]).toBe('swallow');
      expect(sent.filter((what) => /stream|finish|break/.test(what))).toEqual([]);
    }
  });

  it('stays refused for the kind that its head showed', async () => {
    const one = await withGuard(blind('out request x/y'));
    const note = { jsonrpc: '2.0', method: 'x/y', params: LARGE };
    expect(inShort(send(one, 'agent', note))).toEqual([
      'swallow',
      'report DROPPED refused',
      'drop refused',
    ]);
  });

  it('cannot be changed by a gate that has not seen it', async () => {
    const unseen: Guard['unseen'] = () => ({ kind: 'changed', value: {} });
    const one = await withGuard(guardOf({ unseen }));
    expect(inShort(send(one, 'agent', request(2, 'x/y', LARGE)))).toContain('answer 2 -32081');
  });

  it('may pass with a note', async () => {
    const note = { action: 'tag', findings: ['unscanned:size'] } as const;
    const one = await withGuard(guardOf({ unseen: () => ({ kind: 'same', note }) }));
    one.send('agent', call(1, 'read'));
    const sent = send(one, 'server', result(1, LARGE));
    expect(inShort(sent)).toContain('finish to agent');
    expect(eventsOf(sent, 'tool_call_end')[0]?.call.content).toEqual(note);
  });
});

describe('a large answer that the hub must hear of', () => {
  it.each([
    [
      'production',
      ['swallow', 'end ERROR', 'report REJECTED refused', 'answer 1 isError', 'drop refused'],
    ],
    [
      'development',
      ['stream to agent', 'report WOULD_REJECT unheard', 'end OK', 'finish to agent'],
    ],
  ] as const)('cannot be told: %s', async (profile, commands) => {
    const one = await play([], { profile, config: { hubNeeds: { observes: true } } });
    one.send('agent', call(1, 'read'));
    expect(inShort(send(one, 'server', idLast(1, LARGE)))).toEqual(commands);
  });
});

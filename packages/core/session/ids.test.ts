import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { deny } from '../policy/testing/scenario.ts';
import {
  answersOf,
  call,
  eventsOf,
  initialize,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';

const notice = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', method, params });

describe('messages that pass undecided', () => {
  it.each([
    'notifications/initialized',
    'notifications/progress',
    'notifications/cancelled',
    'notifications/roots/list_changed',
  ])('%s of the agent', async (method) => {
    verifies('F-017');
    const { sendInShort } = await play([deny('all')]);
    expect(sendInShort('agent', notice(method))).toEqual(['forward to server']);
  });

  it.each([
    'notifications/progress',
    'notifications/resources/updated',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
    'notifications/message',
  ])('%s of the server', async (method) => {
    verifies('F-017', 'EC-STDIO-020');
    const { sendInShort } = await play([deny('all')]);
    expect(sendInShort('server', notice(method))).toEqual(['forward to agent']);
  });

  it('handshake and ping, whatever the two sides agree or disagree on', async () => {
    verifies('F-017', 'EC-STDIO-030');
    const { sendInShort } = await play([deny('all')]);
    const [opens] = initialize('2025-11-25');
    expect(sendInShort('agent', opens)).toEqual(['forward to server']);
    expect(sendInShort('server', result('init', { protocolVersion: '1999-01-01' }))).toEqual([
      'forward to agent',
    ]);
    expect(sendInShort('agent', request(1, 'ping'))).toEqual(['forward to server']);
    expect(sendInShort('server', result(1))).toEqual(['forward to agent']);
  });
});

describe('requests of the agent', () => {
  it.each([1, '1', null, 0, 'é"', 9_007_199_254_740_991])(
    'match their answer by an id like %j',
    async (id) => {
      verifies('F-015');
      const { sendInShort, session } = await play();
      sendInShort('agent', request(id, 'tools/list'));
      expect(sendInShort('server', result(id, { tools: [] }))).toEqual(['forward to agent']);
      expect(session.openRequests('agent')).toBe(0);
    },
  );

  it('tell the number 1 from the text "1"', async () => {
    verifies('F-015');
    const { sendInShort } = await play();
    sendInShort('agent', request(1, 'tools/list'));
    expect(sendInShort('server', result('1'))).toEqual([
      'report DROPPED unsolicited_answer',
      'drop unsolicited_answer',
    ]);
    expect(sendInShort('agent', request('1', 'tools/list'))).toEqual(['forward to server']);
    expect(sendInShort('server', result(1))).toEqual(['forward to agent']);
    expect(sendInShort('server', result('1'))).toEqual(['forward to agent']);
  });

  it('are answered once: a second or unsolicited answer is dropped and reported', async () => {
    verifies('F-015', 'F-014');
    const { sendInShort } = await play();
    sendInShort('agent', call(1, 'a'));
    sendInShort('server', result(1));
    const dropped = ['report DROPPED unsolicited_answer', 'drop unsolicited_answer'];
    expect(sendInShort('server', result(1))).toEqual(dropped);
    expect(sendInShort('server', result(99))).toEqual(dropped);
    const lenient = await play([], { profile: 'development' });
    expect(lenient.sendInShort('server', result(99))).toEqual([
      'report WOULD_DROP unsolicited_answer',
      'forward to agent',
    ]);
  });

  it('let an error about nothing in particular pass', async () => {
    const { sendInShort } = await play();
    const error = { code: -32700, message: 'Parse error' };
    expect(sendInShort('server', { jsonrpc: '2.0', id: null, error })).toEqual([
      'forward to agent',
    ]);
    expect(sendInShort('server', { jsonrpc: '2.0', error })).toEqual(['forward to agent']);
  });

  it('may not use an id that is still open', async () => {
    verifies('F-015');
    const { sendInShort } = await play();
    sendInShort('agent', call(1, 'a'));
    const refused = ['report REJECTED id_in_use', 'answer 1 -32600', 'drop id_in_use'];
    expect(sendInShort('agent', call(1, 'b')).slice(3)).toEqual(refused);
    expect(sendInShort('agent', request(1, 'tools/list'))).toEqual(refused);
    expect(sendInShort('server', result(1))).toEqual(['end OK', 'forward to agent']);
    expect(sendInShort('agent', call(1, 'b'))).toContain('forward to server');
  });

  it('end their first namesake in development, which lets both pass', async () => {
    const { sendInShort } = await play([], { profile: 'development' });
    sendInShort('agent', call(1, 'a'));
    expect(sendInShort('agent', call(1, 'b'))).toEqual([
      'report WOULD_REJECT id_in_use',
      'end ERROR',
      'start b',
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server',
    ]);
  });

  it('are refused, not forgotten, when too many are open', async () => {
    const { sendInShort } = await play([], { config: { limits: { openMax: 2 } } });
    sendInShort('agent', request(1, 'tools/list'));
    sendInShort('agent', call(2, 'a'));
    expect(sendInShort('agent', call(3, 'a')).slice(3)).toEqual([
      'report REJECTED too_many_open',
      'answer 3 -32603',
      'drop too_many_open',
    ]);
    sendInShort('agent', notice('notifications/cancelled', { requestId: 2 }));
    expect(sendInShort('agent', call(3, 'a'))).toContain('forward to server');
  });

  it('count as lost after a time, and their late answer still passes', async () => {
    verifies('F-015', 'IP-1.7');
    const { sendInShort, session } = await play([], { config: { limits: { orphanMs: 1_000 } } });
    sendInShort('agent', call(1, 'slow'), 0);
    sendInShort('agent', request(2, 'tools/list'), 500);
    expect(session.tick(999)).toEqual([]);
    const lost = session.tick(1_000);
    expect(inShort(lost)).toEqual(['report NOTICED orphan', 'end TIMEOUT']);
    expect(eventsOf(lost, 'tool_call_end')[0]).toMatchObject({
      latency_ms: 1_000,
      error: { class: 'timeout' },
    });
    expect(inShort(session.tick(1_500))).toEqual(['report NOTICED orphan']);
    expect(session.tick(9_000)).toEqual([]);
    expect(sendInShort('server', result(1), 9_001)).toEqual(['forward to agent']);
    expect(session.summary().errors_total).toBe(1);
  });

  it('end when they are cancelled; the late answer passes and is not recorded', async () => {
    verifies('IP-1.7', 'F-017');
    const { sendInShort } = await play();
    sendInShort('agent', call('c', 'a'), 0);
    const cancelled = notice('notifications/cancelled', { requestId: 'c', reason: 'x' });
    expect(sendInShort('agent', cancelled, 5)).toEqual(['end CANCELLED', 'forward to server']);
    expect(sendInShort('agent', cancelled, 6)).toEqual(['forward to server']);
    expect(sendInShort('server', result('c'), 7)).toEqual(['forward to agent']);
  });
});

describe('requests of the server', () => {
  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    '%s reaches the agent, and its answer the server',
    async (method) => {
      verifies('EC-STDIO-019', 'F-015');
      const { sendInShort, session } = await play([deny('all')]);
      sendInShort('agent', request(1, 'tools/list'));
      // Each side counts its own ids.
      expect(sendInShort('server', request(1, method))).toEqual(['forward to agent']);
      expect(sendInShort('agent', result(1))).toEqual(['forward to server']);
      expect(sendInShort('agent', result(1))).toEqual([
        'report DROPPED unsolicited_answer',
        'drop unsolicited_answer',
      ]);
      expect(sendInShort('server', result(1))).toEqual(['forward to agent']);
      expect(session.openRequests('server')).toBe(0);
    },
  );

  it('may not use an id that is still open', async () => {
    verifies('F-015');
    const { sendInShort } = await play();
    sendInShort('server', request(1, 'roots/list'));
    expect(sendInShort('server', request(1, 'sampling/createMessage'))).toEqual([
      'report DROPPED id_in_use',
      'drop id_in_use',
    ]);
    sendInShort('agent', result(1));
    expect(sendInShort('server', request(1, 'roots/list'))).toEqual(['forward to agent']);
  });
});

describe('when a side goes away', () => {
  it('answers every request that the server left open', async () => {
    verifies('EC-STDIO-010', 'IP-1.7');
    const { sendInShort, session } = await play();
    sendInShort('agent', call('a', 't'));
    sendInShort('agent', request(2, 'tools/list'));
    sendInShort('agent', call(3, 't'));
    sendInShort('agent', notice('notifications/cancelled', { requestId: 3 }));
    const gone = session.serverExited({ started: true, code: 3 }, 10);
    expect(inShort(gone)).toEqual(['end ERROR', 'answer "a" -32603', 'answer 2 -32603']);
    expect(answersOf(gone)[0]).toMatchObject({
      error: { message: 'The MCP server `files` exited with code 3.' },
    });
    expect(session.serverExited({ started: true, code: 3 }, 11)).toEqual([]);
    expect(sendInShort('agent', request(4, 'ping'))).toEqual(['answer 4 -32603', 'drop no_server']);
  });

  it('answers every request to a server that could not start', async () => {
    verifies('EC-STDIO-009');
    const { sendInShort, send, session } = await play([deny('w', { tool_name: { glob: ['w'] } })]);
    session.serverExited({ started: false, message: 'no such command: nope' }, 0);
    const [answer] = answersOf(send('agent', request(1, 'initialize')));
    expect(answer).toMatchObject({
      error: {
        code: -32603,
        message: 'The MCP server `files` could not be started: no such command: nope',
      },
    });
    expect(sendInShort('agent', call(2, 't'))).toEqual([
      'start t',
      'decision ALLOW DEFAULT_ALLOW',
      'end ERROR',
      'answer 2 -32603',
      'drop no_server',
    ]);
    expect(sendInShort('agent', call(3, 'w'))).toContain('answer 3 -32081');
    expect(sendInShort('agent', notice('notifications/initialized'))).toEqual(['drop no_server']);
  });

  it('ends the calls of an agent that is gone, and answers nobody', async () => {
    verifies('IP-1.7');
    const { sendInShort, session } = await play();
    sendInShort('agent', call(1, 't'), 0);
    sendInShort('agent', request(2, 'tools/list'), 0);
    expect(inShort(session.agentClosed(5))).toEqual(['end CANCELLED']);
    expect(session.openRequests('agent')).toBe(0);
  });
});

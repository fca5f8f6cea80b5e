// Calls that go on as tasks, in both eras: their ends are those of direct answers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { breaker } from '../policy/testing/scenario.ts';
import { guardOf, SAME } from './guard.test-support.ts';
import type { Guard, OtherMessage } from './guard.ts';
import { parsed } from './json.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  type Play,
  play,
  request,
  result,
} from './playbook.test-support.ts';
import type { Command } from './types.ts';

const MODERN = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const RELATED = 'io.modelcontextprotocol/related-task';
const TEXT = { content: [{ type: 'text', text: 'done' }] };
const ends = (commands: readonly Command[]) =>
  eventsOf(commands, 'tool_call_end').map(({ call: { call_id }, status, error, preview }) => ({
    call_id,
    status,
    ...(error !== undefined && { error }),
    ...(preview.result_preview !== undefined && { shown: parsed(preview.result_preview) }),
  }));

/** A call whose answer is a task of 2026-07-28. */
function begin({ send }: Play, id: number, taskId: string, more: object = {}) {
  send('agent', {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: `tool-${taskId}`, arguments: { id }, _meta: MODERN },
  });
  return send(
    'server',
    result(id, { resultType: 'task', taskId, status: 'working', ttlMs: null, ...more }),
  );
}

/** The same of 2025-11-25. */
function beginLegacy({ send }: Play, id: number, taskId: string) {
  const params = { name: 'slow', arguments: {}, task: { ttl: 60_000 } };
  send('agent', { jsonrpc: '2.0', id, method: 'tools/call', params });
  return send('server', result(id, { task: { taskId, status: 'working', ttl: 60_000 } }));
}

function ask({ send }: Play, id: number, method: string, taskId: string, answer: object) {
  send('agent', request(id, method, { taskId }));
  return send('server', result(id, answer));
}

describe('a call that goes on as a task', () => {
  it('ends with the result that tasks/get brings, once', async () => {
    const session = await play();
    expect(ends(begin(session, 1, 'a'))).toEqual([]);
    expect(ends(ask(session, 2, 'tasks/get', 'a', { taskId: 'a', status: 'working' }))).toEqual([]);
    const done = { resultType: 'complete', taskId: 'a', status: 'completed', result: TEXT };
    expect(ends(ask(session, 3, 'tasks/get', 'a', done))).toEqual([
      { call_id: 'call-1', status: 'OK', shown: TEXT },
    ]);
    expect(ends(ask(session, 4, 'tasks/get', 'a', done))).toEqual([]);
    expect(session.session.summary()).toMatchObject({ calls_total: 1, errors_total: 0 });
  });

  it('ends with the result of tasks/result in 2025-11-25', async () => {
    const session = await play();
    expect(ends(beginLegacy(session, 1, 'a'))).toEqual([]);
    const state = { taskId: 'a', status: 'completed', ttl: 60_000 };
    expect(ends(ask(session, 2, 'tasks/get', 'a', state))).toEqual([]);
    const answer = { ...TEXT, isError: true, _meta: { [RELATED]: { taskId: 'a' } } };
    expect(ends(ask(session, 3, 'tasks/result', 'a', answer))).toMatchObject([
      { call_id: 'call-1', status: 'ERROR', error: { class: 'upstream_error' }, shown: answer },
    ]);
  });

  it('ends with the JSON-RPC error of its task', async () => {
    const session = await play();
    begin(session, 1, 'a');
    const error = { code: -32_603, message: 'API rate limit exceeded' };
    expect(
      ends(ask(session, 2, 'tasks/get', 'a', { taskId: 'a', status: 'failed', error })),
    ).toEqual([
      { call_id: 'call-1', status: 'ERROR', error: { class: 'upstream_error', ...error } },
    ]);
    beginLegacy(session, 3, 'b');
    session.send('agent', request(4, 'tasks/result', { taskId: 'b' }));
    expect(ends(session.send('server', { jsonrpc: '2.0', id: 4, error }))).toMatchObject([
      { call_id: 'call-2', status: 'ERROR', error },
    ]);
  });

  it('ends when its task is cancelled', async () => {
    const session = await play();
    beginLegacy(session, 1, 'a');
    const state = { taskId: 'a', status: 'cancelled' };
    expect(ends(ask(session, 2, 'tasks/cancel', 'a', state))).toEqual([
      { call_id: 'call-1', status: 'CANCELLED' },
    ]);
    begin(session, 3, 'b');
    expect(ends(ask(session, 4, 'tasks/cancel', 'b', { resultType: 'complete' }))).toEqual([]);
    expect(ends(ask(session, 5, 'tasks/get', 'b', { taskId: 'b', status: 'cancelled' }))).toEqual([
      { call_id: 'call-2', status: 'CANCELLED' },
    ]);
  });

  it.each(['notifications/tasks', 'notifications/tasks/status'])('ends by %s', async (method) => {
    const session = await play();
    begin(session, 1, 'a');
    const tell = (params: object) =>
      ends(session.send('server', { jsonrpc: '2.0', method, params }));
    expect(tell({ taskId: 'a', status: 'working' })).toEqual([]);
    expect(tell({ taskId: 'foreign', status: 'completed', result: TEXT })).toEqual([]);
    expect(tell({ taskId: 'a', status: 'failed', statusMessage: 'No disk.' })).toMatchObject([
      { call_id: 'call-1', status: 'ERROR', error: { message: 'No disk.' } },
    ]);
    expect(tell({ taskId: 'a', status: 'completed', result: TEXT })).toEqual([]);
  });

  it('ends with the connection, and when the server no longer keeps its task', async () => {
    const session = await play();
    begin(session, 1, 'a', { ttlMs: 3_600_000 });
    begin(session, 2, 'b');
    expect(ends(session.session.tick(3_599_999))).toEqual([]);
    expect(ends(session.session.tick(3_600_000))).toMatchObject([
      { call_id: 'call-1', status: 'TIMEOUT' },
    ]);
    const exit = { started: true, code: 1 };
    expect(ends(session.session.serverExited(exit, 3_600_001))).toMatchObject([
      { call_id: 'call-2', status: 'ERROR', error: { class: 'transport' } },
    ]);
    const other = await play();
    begin(other, 1, 'c');
    expect(ends(other.session.agentClosed(5))).toMatchObject([{ status: 'CANCELLED' }]);
  });

  it('is no failure of the server because it takes long', async () => {
    const told: unknown[] = [];
    const guard = guardOf({ ended: (end) => told.push(end) });
    const session = await play([], { config: { guard } });
    begin(session, 1, 'a');
    session.send('agent', request(2, 'tasks/get', { taskId: 'a' }), 900_000);
    const done = { taskId: 'a', status: 'completed', result: TEXT };
    session.send('server', result(2, done), 900_001);
    expect(told).toEqual([{ callId: 'call-1', tool: 'tool-a', isError: false, tookMs: 0 }]);
  });

  it('is a failure for a breaker when its result is one', async () => {
    const rule = breaker('errors', { error_threshold: 1, window_ms: 60_000, scope: 'run' });
    const session = await play([rule], { mode: 'control' });
    begin(session, 1, 'a');
    expect(session.sendInShort('agent', call(2, 'x'))).toContain('forward to server');
    ask(session, 3, 'tasks/get', 'a', {
      taskId: 'a',
      status: 'completed',
      result: { isError: true },
    });
    expect(session.sendInShort('agent', call(4, 'y'))).not.toContain('forward to server');
  });

  it('is answered at once when the result has content, whatever task it names', async () => {
    const session = await play();
    session.send('agent', call(1, 'read'));
    const answer = { ...TEXT, task: { taskId: 'a', status: 'working' } };
    expect(ends(session.send('server', result(1, answer)))).toMatchObject([{ status: 'OK' }]);
  });

  it('leaves the memory of a session bounded', async () => {
    const session = await play();
    const lost = Array.from({ length: 1_200 }, (_, at) =>
      ends(begin(session, at, `t${at}`)),
    ).flat();
    expect(lost).toHaveLength(200);
    expect(lost[0]).toMatchObject({ call_id: 'call-1', status: 'TIMEOUT' });
  });
});

describe('a forged message about a task', () => {
  const OTHER = 'The server answers about another task than it was asked about.';

  it.each([
    ['tasks/get', { taskId: 'b', status: 'completed', result: TEXT }],
    ['tasks/cancel', { taskId: 'b', status: 'cancelled' }],
    ['tasks/result', { ...TEXT, _meta: { [RELATED]: { taskId: 'b' } } }],
  ])('does not pass as an answer to %s', async (method, answer) => {
    const session = await play();
    begin(session, 1, 'a');
    begin(session, 2, 'b');
    const commands = ask(session, 3, method, 'a', answer);
    expect(commands.map((command) => command.do)).not.toContain('forward');
    expect(answersOf(commands)).toMatchObject([{ id: 3, error: { message: OTHER } }]);
  });

  it('does not take over the task of another call', async () => {
    const session = await play();
    begin(session, 1, 'a');
    expect(ends(begin(session, 2, 'a'))).toMatchObject([{ call_id: 'call-2', status: 'OK' }]);
    const done = { taskId: 'a', status: 'completed', result: TEXT };
    expect(ends(ask(session, 3, 'tasks/get', 'a', done))).toMatchObject([{ call_id: 'call-1' }]);
  });

  it('loses the mark of Subluminal in the answer of its tool', async () => {
    const session = await play();
    begin(session, 1, 'a');
    const sent = (commands: readonly Command[]) =>
      commands.flatMap((command) =>
        command.do === 'forward' && command.bytes !== undefined
          ? [Buffer.from(command.bytes).toString()]
          : [],
      );
    const inside = { ...TEXT, _meta: { subluminal: { reason_code: 'X' }, mine: 1 } };
    const state = { taskId: 'a', status: 'completed', result: inside };
    expect(sent(ask(session, 2, 'tasks/get', 'a', state))).toEqual([
      `${JSON.stringify(result(2, { ...state, result: { ...TEXT, _meta: { mine: 1 } } }))}\n`,
    ]);
    const error = { code: 1, message: 'no', data: { subluminal: 1 } };
    const params = { taskId: 'a', status: 'failed', error, result: inside };
    const told = sent(
      session.send('server', { jsonrpc: '2.0', method: 'notifications/tasks', params }),
    );
    expect(told.join()).not.toContain('subluminal');
  });

  it('has one meaning to all readers, whichever of two keys they take', async () => {
    const session = await play();
    begin(session, 1, 'a');
    session.send('agent', request(2, 'tasks/get', { taskId: 'a' }));
    const inside = '{"_meta":{"subluminal":1},"content":[],"_meta":{}}';
    const state = `{"taskId":"a","status":"completed","result":${inside}}`;
    const commands = session.send('server', `{"jsonrpc":"2.0","id":2,"result":${state}}`);
    const [bytes] = commands.flatMap((command) =>
      command.do === 'forward' ? (command.bytes ?? []) : [],
    );
    const line = Buffer.from(bytes ?? []).toString();
    expect(parsed(line)).toMatchObject({ result: { result: { content: [], _meta: {} } } });
    expect(line).not.toContain('subluminal');
  });

  it.each(['Status', 'task_id', 'RESULT', 'is_error'])(
    'is refused with a key `%s` that only looks like one of the protocol',
    async (key) => {
      const session = await play();
      begin(session, 1, 'a');
      const commands = ask(session, 2, 'tasks/get', 'a', {
        taskId: 'a',
        status: 'working',
        [key]: 1,
      });
      expect(commands.map((command) => command.do)).not.toContain('forward');
    },
  );

  it('never ends a call twice, nor one of another task', async () => {
    const step = fc.record({
      method: fc.constantFrom('tasks/get', 'tasks/result', 'tasks/cancel'),
      asked: fc.constantFrom('a', 'b', 'c'),
      named: fc.constantFrom('a', 'b', 'c', undefined),
      status: fc.constantFrom('working', 'completed', 'failed', 'cancelled', 'odd'),
      hasResult: fc.boolean(),
      isTold: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const session = await play();
        begin(session, 1, 'a');
        begin(session, 2, 'b');
        const seen: string[] = [];
        for (const [at, { method, asked, named, status, hasResult, isTold }] of steps.entries()) {
          const state = { taskId: named, status, ...(hasResult && { result: TEXT }) };
          const tell = { jsonrpc: '2.0', method: 'notifications/tasks', params: state };
          const about = isTold ? named : asked;
          const commands = isTold
            ? session.send('server', tell)
            : ask(session, 10 + at, method, asked, state);
          for (const { call_id } of ends(commands)) {
            expect(call_id).toBe(about === 'a' ? 'call-1' : 'call-2');
            seen.push(call_id);
          }
        }
        seen.push(...ends(session.session.agentClosed(1)).map(({ call_id }) => call_id));
        expect(seen.toSorted()).toEqual(['call-1', 'call-2']);
      }),
      runs(200),
    );
  });
});

describe('the gates', () => {
  it('learn the call that a message about a task belongs to', async () => {
    const judged: Pick<OtherMessage, 'kind' | 'method' | 'call'>[] = [];
    const passing: Guard['passing'] = (_way, { kind, method, call: made }) => {
      judged.push({ kind, method, call: made });
      return SAME;
    };
    const guard = guardOf({ wants: (_way, _kind, method) => method.includes('tasks'), passing });
    const session = await play([], { config: { guard } });
    begin(session, 1, 'a');
    ask(session, 2, 'tasks/get', 'a', { taskId: 'a', status: 'working' });
    ask(session, 3, 'tasks/get', 'foreign', { taskId: 'foreign', status: 'working' });
    const params = { taskId: 'a', status: 'working' };
    session.send('server', { jsonrpc: '2.0', method: 'notifications/tasks', params });
    const made = { callId: 'call-1', tool: 'tool-a' };
    expect(judged).toEqual([
      { kind: 'request', method: 'tasks/get', call: made },
      { kind: 'answer', method: 'tasks/get', call: made },
      { kind: 'request', method: 'tasks/get', call: undefined },
      { kind: 'answer', method: 'tasks/get', call: undefined },
      { kind: 'notification', method: 'notifications/tasks', call: made },
    ]);
  });

  it('can ask which calls of this session the tasks of a list are', async () => {
    const asked: unknown[] = [];
    const passing: Guard['passing'] = (way, { taskCall }) => {
      if (way === 'in') asked.push(taskCall?.('a'), taskCall?.('foreign'));
      return SAME;
    };
    const guard = guardOf({ wants: (_way, _kind, method) => method === 'tasks/list', passing });
    const session = await play([], { config: { guard } });
    beginLegacy(session, 1, 'a');
    session.send('agent', request(2, 'tasks/list', {}));
    session.send('server', result(2, { tasks: [{ taskId: 'a' }, { taskId: 'foreign' }] }));
    expect(asked).toEqual([{ callId: 'call-1', tool: 'slow' }, undefined]);
  });

  it('of the hub learn from which tool the result of a task comes', async () => {
    const hubNeeds = { observes: true };
    const session = await play([], { config: { hub: true, hubNeeds, profile: 'development' } });
    begin(session, 1, 'a');
    session.send('agent', request(2, 'tasks/get', { taskId: 'a' }));
    const line = JSON.stringify(result(2, { taskId: 'a', status: 'completed', result: TEXT }));
    const message = session.session.read('server', Buffer.from(`${line}\n`));
    expect(session.session.observations(message)).toMatchObject([
      { callId: 'call-1', tool: 'tool-a' },
    ]);
  });
});

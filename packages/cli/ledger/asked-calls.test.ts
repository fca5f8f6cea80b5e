import { type Event, parseEvent } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { AskedCalls } from './asked-calls.ts';

const HASH = '0'.repeat(64);

function event(type: string, body: object): Event {
  const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
  const who = { run_id: 'run', agent_id: 'a', client: 'claude', env: 'dev', source };
  const parsed = parseEvent({ v: '0.2.0', type, ts: '2026-01-01T00:00:00Z', ...who, ...body });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed));
  return parsed.event;
}

function call(call_id: string, tool_name: string, tool_use_id?: string): Event {
  const names = { call_id, server_name: 'files', tool_name, args_hash: HASH };
  const fixed = { transport: 'mcp_stdio', bytes_in: 2, preview: { truncated: true }, seq: 1 };
  return event('tool_call_start', { call: { ...names, ...fixed, tool_use_id } });
}

function turnEnd(turnId: string, asked: { readonly [id: string]: string }): Event {
  const tool_calls = Object.entries(asked).map(([id, name]) => ({ id, name }));
  const fixed = { status: 'OK', latency_ms: 1, bytes_out: 1, preview: { truncated: true } };
  const ref = { call_id: turnId, provider: 'anthropic', model: 'm' };
  return event('turn_end', { call: ref, ...fixed, tool_calls });
}

function seen(...events: readonly Event[]) {
  const calls = new AskedCalls();
  for (const one of events) calls.see(one);
  const ofTurn = (turnId: string) =>
    Object.fromEntries(calls.ofTurn(turnId).map(({ id, callId }) => [id, callId]));
  return { ofTurn, turnOf: (callId: string) => calls.forCall(callId)?.turnId };
}

const READ = 'mcp__files__read';

test('calls belong to a turn by their name and their order', () => {
  const { ofTurn, turnOf } = seen(
    turnEnd('turn', { t1: READ, t2: 'Bash', t3: READ, t4: 'files.write' }),
    call('c1', 'read'),
    call('c2', 'write'),
    call('c3', 'read'),
    call('c4', 'read'),
  );
  expect(ofTurn('turn')).toEqual({ t1: 'c1', t2: null, t3: 'c3', t4: 'c2' });
  expect(['c1', 'c2', 'c3', 'c4'].map(turnOf)).toEqual(['turn', 'turn', 'turn', undefined]);
});

test('a call that a later turn has asked for is not taken for one of an earlier turn', () => {
  const { ofTurn } = seen(
    turnEnd('first', { t1: READ }),
    turnEnd('second', { t2: READ }),
    call('c1', 'read'),
  );
  expect([ofTurn('first'), ofTurn('second')]).toEqual([{ t1: null }, { t2: 'c1' }]);
});

test('a tool whose name ends alike is another one', () => {
  const { ofTurn } = seen(turnEnd('turn', { t1: 'mcp__files__spread' }), call('c1', 'read'));
  expect(ofTurn('turn')).toEqual({ t1: null });
});

test('the id that the model gave tells more than name and order', () => {
  const { ofTurn } = seen(
    turnEnd('first', { t1: READ, t2: READ }),
    turnEnd('second', { t3: READ }),
    call('c3', 'read', 't3'),
    call('c2', 'read', 't2'),
    call('c1', 'another name', 't1'),
  );
  expect([ofTurn('first'), ofTurn('second')]).toEqual([{ t1: 'c1', t2: 'c2' }, { t3: 'c3' }]);
});

test('a call that comes before the end of its turn belongs to it by its id', () => {
  const { ofTurn } = seen(
    turnEnd('first', { t1: READ }),
    call('c2', 'read', 't2'),
    turnEnd('second', { t2: READ }),
  );
  expect([ofTurn('first'), ofTurn('second')]).toEqual([{ t1: null }, { t2: 'c2' }]);
});

test('of two turns whose models gave the same id, the later one has the call', () => {
  const { ofTurn } = seen(
    turnEnd('first', { call_0: READ }),
    call('c1', 'read', 'call_0'),
    turnEnd('second', { call_0: READ }),
    call('c2', 'read', 'call_0'),
  );
  expect([ofTurn('first'), ofTurn('second')]).toEqual([{ call_0: 'c1' }, { call_0: 'c2' }]);
});

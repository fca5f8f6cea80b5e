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

function call(call_id: string, tool_name: string): Event {
  const names = { call_id, server_name: 'files', tool_name, args_hash: HASH };
  const fixed = { transport: 'mcp_stdio', bytes_in: 2, preview: { truncated: true }, seq: 1 };
  return event('tool_call_start', { call: { ...names, ...fixed } });
}

function turnEnd(...names: readonly string[]): Event {
  const tool_calls = names.map((name, index) => ({ id: `later-${index}`, name }));
  const fixed = { status: 'OK', latency_ms: 1, bytes_out: 1, preview: { truncated: true } };
  const ref = { call_id: 'turn', provider: 'anthropic', model: 'm' };
  return event('turn_end', { call: ref, ...fixed, tool_calls });
}

const ASKED = [
  { id: 't1', name: 'mcp__files__read' },
  { id: 't2', name: 'Bash' },
  { id: 't3', name: 'mcp__files__read' },
  { id: 't4', name: 'files.write' },
];

test('calls belong to a turn by their name and their order', () => {
  const calls = new AskedCalls(ASKED);
  for (const one of [call('c1', 'read'), call('c2', 'write'), call('c3', 'read')]) calls.see(one);
  calls.see(call('c4', 'read'));
  expect([...calls.found]).toEqual([
    ['t1', 'c1'],
    ['t4', 'c2'],
    ['t3', 'c3'],
  ]);
});

test('a call that a later turn has asked for is not taken for one of an earlier turn', () => {
  const calls = new AskedCalls([{ id: 't1', name: 'mcp__files__read' }]);
  calls.see(turnEnd('mcp__files__read'));
  calls.see(call('c1', 'read'));
  expect(calls.found.size).toBe(0);
});

test('a tool whose name ends alike is another one', () => {
  const calls = new AskedCalls([{ id: 't1', name: 'mcp__files__spread' }]);
  calls.see(call('c1', 'read'));
  expect(calls.found.size).toBe(0);
});

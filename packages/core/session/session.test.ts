import {
  check,
  DECISION,
  ERROR_DATA,
  eventWriter,
  parseEventLine,
  type Rule,
} from '@subluminal/contracts';

import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { breaker, budget, deny, rateLimit, snapshotOf } from '../policy/testing/scenario.ts';
import { under } from './json.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  initialize,
  inShort,
  play,
  request,
  result,
  toyHash,
} from './playbook.test-support.ts';
import { leanLine } from './record-call.ts';
import type { Command } from './types.ts';

const noWrite = deny('no-write', { tool_name: { glob: ['write*'] } });
const HINT: Rule = {
  ...deny('hint', { args: { numeric_range: { limit: { min: 101 } } } }),
  kind: 'deny',
  effect: {
    action: 'BLOCK',
    hint: { hint_text: 'At most 100.', suggest: { clamp: { limit: { max: 100 } } } },
  },
};

describe('a call that may pass', () => {
  it('is put on record, forwarded as it came, and ended by its answer', async () => {
    verifies('T-A1.2', 'IP-1.5', 'IP-1.6', 'IP-1.7', 'IP-7.1');
    const { send, session } = await play();
    const sent = send('agent', call(1, 'read', { path: '/a' }), 1_000);
    expect(inShort(sent)).toEqual([
      'start read',
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server',
    ]);
    const [started] = eventsOf(sent, 'tool_call_start');
    expect(started?.call).toEqual({
      call_id: 'call-1',
      server_name: 'files',
      tool_name: 'read',
      args_hash: toyHash('{"path":"/a"}'),
      transport: 'mcp_stdio',
      bytes_in: JSON.stringify(call(1, 'read', { path: '/a' })).length,
      preview: { truncated: false, args_preview: '{"path":"/a"}' },
      seq: 1,
    });
    const answered = send('server', result(1, { content: [] }), 1_042);
    expect(inShort(answered)).toEqual(['end OK', 'forward to agent']);
    expect(eventsOf(answered, 'tool_call_end')[0]).toMatchObject({
      call: { call_id: 'call-1' },
      latency_ms: 42,
      preview: { truncated: false, result_preview: '{"content":[]}' },
    });
    expect(session.summary()).toMatchObject({ calls_total: 1, calls_allowed: 1, errors_total: 0 });
  });

  it('has one hash whatever the order and spacing of its arguments', async () => {
    verifies('IP-7.4', 'T-A2.3');
    const { send } = await play();
    const hash = (text: string, id: number) => {
      const head = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t"`;
      return eventsOf(send('agent', `${head}${text}}}`), 'tool_call_start')[0]?.call.args_hash;
    };
    expect(hash(',"arguments":{"b":1.0,"a":2}', 1)).toBe(hash(',"arguments": {"a":2, "b":1}', 2));
    expect(hash('', 3)).toBe(hash(',"arguments":{}', 4));
    expect(hash(',"arguments":null', 5)).toBe(hash(',"arguments":{}', 6));
  });

  it('ends in error when the tool or the server reports one', async () => {
    verifies('IP-1.7');
    const { send, session } = await play();
    send('agent', call(1, 'a'));
    send('agent', call(2, 'b'));
    const tool = send('server', result(1, { isError: true, content: [] }));
    expect(eventsOf(tool, 'tool_call_end')[0]).toMatchObject({
      status: 'ERROR',
      error: { class: 'upstream_error' },
    });
    const rpc = send('server', {
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32001, message: 'No "such" file' },
    });
    expect(eventsOf(rpc, 'tool_call_end')[0]?.error).toEqual({
      class: 'upstream_error',
      message: 'No "such" file',
      code: -32001,
    });
    expect(session.summary().errors_total).toBe(2);
  });

  it('shows previews redacted and cut, and never half a secret', async () => {
    verifies('IP-1.10');
    const redact = (text: string) => text.replaceAll('SECRETSECRET', '***');
    const limits = { previewBytesMax: 64 };
    const { send } = await play([], { config: { redact, limits } });
    const shown = (text: string, id: number) =>
      eventsOf(send('agent', call(id, 't', { text })), 'tool_call_start')[0]?.call.preview;
    expect(shown('SECRETSECRET', 1)).toEqual({ truncated: false, args_preview: '{"text":"***"}' });
    const long = shown(`${'é'.repeat(100)}SECRETSECRET`, 2);
    expect(long?.truncated).toBe(true);
    expect(Buffer.byteLength(long?.args_preview ?? '')).toBeLessThanOrEqual(64);
  });

  it('shows nothing of a secret that the edge of the preview has cut', async () => {
    verifies('IP-1.10');
    const secret = 'SECRET'.repeat(300);
    const redact = (text: string) => text.replaceAll(secret, '***');
    const { send } = await play([], { config: { redact, limits: { previewBytesMax: 64 } } });
    const text = secret.repeat(5);
    const sent = send('agent', call(1, 't', { text }));
    expect(eventsOf(sent, 'tool_call_start')[0]?.call.preview.args_preview).not.toMatch(/SECRET/);
    const answered = send('server', result(1, { content: [{ type: 'text', text }] }));
    expect(eventsOf(answered, 'tool_call_end')[0]?.preview.result_preview).not.toMatch(/SECRET/);
  });

  it('shows no secret in the name of a tool, which is decided on as it is', async () => {
    verifies('IP-6.4');
    const redact = (text: string) => text.replaceAll('hunter22', '***');
    const rule = deny('no', { tool_name: { glob: ['read_hunter22'] } });
    const { send } = await play([rule], { config: { redact } });
    const refused = send('agent', call(1, 'read_hunter22'));
    expect(inShort(refused)).toContain('decision BLOCK DENYLIST_MATCH');
    expect(JSON.stringify(refused)).not.toContain('hunter22');
    expect(eventsOf(refused, 'tool_call_decision')[0]?.call.tool_name).toBe('read_***');
  });

  it('neither records nor gives a suggestion that has a secret in it', async () => {
    verifies('IP-6.4');
    const redact = (text: string) => text.replaceAll('hunter22', '***');
    const { send } = await play([HINT], { mode: 'control', config: { redact } });
    const hinted = send('agent', call(1, 'read', { limit: 500, token: 'hunter22' }));
    const events = hinted.filter((command) => command.do === 'emit');
    expect(JSON.stringify(events)).not.toContain('hunter22');
    expect(eventsOf(hinted, 'hint_issued')[0]?.hint.suggested_args).toBeNull();
    expect(JSON.stringify(answersOf(hinted))).not.toContain('hunter22');
  });

  it('writes events that contract A takes, with and without previews', async () => {
    verifies('IP-1.5', 'IP-1.6', 'IP-1.7', 'T-A2.3');
    const { send, session } = await play([HINT, noWrite], { mode: 'control' });
    const all = [
      ...send('agent', call(1, 'read', { limit: 5 })),
      ...send('server', result(1)),
      ...send('agent', call(2, 'write_file')),
      ...send('agent', call(3, 'read', { limit: 500 })),
      ...send(
        'agent',
        '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"t","arguments":{"a":1,"a":2}}}',
      ),
      ...send('agent', call(5, '')),
      ...send('agent', call(6, 'open')),
      ...session.serverExited({ started: true, code: 1 }, 5),
    ];
    const source = { host_id: 'h', proc_id: 'p', shim_id: 's' };
    const writer = eventWriter({
      run_id: 'r',
      agent_id: 'a',
      client: 'claude',
      env: 'dev',
      source,
    });
    const emits = all.filter(
      (command): command is Extract<Command, { do: 'emit' }> => command.do === 'emit',
    );
    expect(emits.length).toBeGreaterThan(15);
    for (const { type, body } of emits) {
      const line = writer.line(type, body, '2026-01-01T00:00:00.000Z');
      expect(parseEventLine(line)).toMatchObject({ ok: true, event: { type } });
      expect(parseEventLine(leanLine(line))).toMatchObject({ ok: true, event: { type } });
      expect(leanLine(line).includes('"previews_dropped":true')).toBe(line.includes('"preview":'));
      expect(leanLine(line)).not.toMatch(/"(?:args|result)_preview"/);
    }
  });
});

describe('a call that is refused', () => {
  it('is answered by a well-formed error and never forwarded', async () => {
    verifies('T-A1.3', 'IP-3.2', 'IP-3.2.1', 'IP-3.2.2', 'IP-7.2');
    const { send, session } = await play([noWrite]);
    const sent = send('agent', call('x"1', 'write_file'));
    expect(inShort(sent)).toEqual([
      'start write_file',
      'decision BLOCK DENYLIST_MATCH',
      'end ERROR',
      'answer "x\\"1" -32081',
      'drop refused',
    ]);
    const [answer] = answersOf(sent);
    expect(check(ERROR_DATA, under(answer, 'error', 'data'))).toEqual([]);
    expect(answer).toMatchObject({
      jsonrpc: '2.0',
      error: {
        data: {
          subluminal: { action: 'BLOCK', rule_id: 'no-write', run_id: 'run', call_id: 'call-1' },
        },
      },
    });
    expect(session.summary()).toMatchObject({ calls_blocked: 1, calls_allowed: 0 });
    expect(session.openRequests('agent')).toBe(0);
  });

  it('gets the code of its era', async () => {
    verifies('IP-3.2.1');
    const { send, sendInShort } = await play([noWrite]);
    const [opens, opened] = initialize('2025-11-25');
    send('agent', opens);
    send('server', opened);
    expect(sendInShort('agent', call(1, 'write'))).toContain('answer 1 -32081');
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const modern = request(2, 'tools/call', { name: 'write', arguments: {}, _meta: meta });
    expect(sendInShort('agent', modern)).toContain('answer 2 -31081');
  });

  it('is throttled with the time to wait', async () => {
    verifies('IP-3.2.3');
    const rule = rateLimit('rate', { capacity: 1, on_limit: 'THROTTLE', backoff_ms: 250 });
    const { send, session } = await play([rule]);
    send('agent', call(1, 'a'));
    const [answer] = answersOf(send('agent', call(2, 'a')));
    expect(answer).toMatchObject({
      error: { code: -32082, data: { subluminal: { backoff_ms: 250 } } },
    });
    expect(session.summary()).toMatchObject({ calls_throttled: 1, calls_allowed: 1 });
  });

  it('brings its hint, as an answer and as an event', async () => {
    verifies('IP-3.2.4', 'IP-3.3');
    const { send } = await play([HINT], { mode: 'control' });
    const sent = send('agent', call(1, 'search', { limit: 500, q: 'x' }));
    const hint = {
      hint_text: 'At most 100.',
      suggested_args: { limit: 100, q: 'x' },
      hint_kind: 'ARG_FIX',
    };
    expect(answersOf(sent)[0]).toMatchObject({
      error: { code: -32083, data: { subluminal: { hint } } },
    });
    expect(eventsOf(sent, 'hint_issued')[0]).toMatchObject({ call: { call_id: 'call-1' }, hint });
  });

  it('reaches the model as a result when the bundle asks for that', async () => {
    verifies('IP-3.2');
    const { send } = await play([HINT], { mode: 'control', hint_delivery: 'tool_result' });
    const [answer] = answersOf(send('agent', call(1, 'search', { limit: 500 })));
    expect(answer).toMatchObject({ id: 1, result: { isError: true, content: [{ type: 'text' }] } });
    expect(JSON.stringify(under(answer, 'result', 'content'))).toContain('At most 100.');
    expect(check(ERROR_DATA, under(answer, 'result', '_meta'))).toEqual([]);
    expect(under(answer, 'result')).not.toHaveProperty('resultType');
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const params = { name: 'search', arguments: { limit: 500 }, _meta: meta };
    expect(answersOf(send('agent', request(2, 'tools/call', params)))[0]).toMatchObject({
      result: { resultType: 'complete' },
    });
  });

  it('ends the run, and every later call after that', async () => {
    verifies('IP-3.1');
    const { sendInShort } = await play([
      budget('cap', { limit_calls: 1, on_exceed: 'TERMINATE_RUN' }),
    ]);
    sendInShort('agent', call(1, 'a'));
    expect(sendInShort('agent', call(2, 'a'))).toEqual([
      'start a',
      'decision TERMINATE_RUN BUDGET_EXCEEDED',
      'end ERROR',
      'answer 2 -32084',
      'drop refused',
      expect.stringMatching(/^terminate /),
    ]);
    expect(sendInShort('agent', call(3, 'a'))).toContain('answer 3 -32084');
  });

  it.each([
    ['a key twice', '{"name":"t","arguments":{"a":1,"a":2}}'],
    ['a list', '{"name":"t","arguments":[1]}'],
    ['no name', '{"arguments":{}}'],
    ['an empty name', '{"name":"","arguments":{}}'],
    ['a name that is no text', '{"name":7,"arguments":{}}'],
    ['a name that is too long', `{"name":"${'n'.repeat(1_025)}","arguments":{}}`],
    ['a name that is far too long', `{"name":"${'n'.repeat(70_000)}","arguments":{}}`],
    ['nesting too deep', `{"name":"t","arguments":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`],
  ])('for invalid params: %s', async (_, params) => {
    verifies('T-A1.3', 'F-014');
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    const { send } = await play();
    const sent = send('agent', message);
    expect(inShort(sent).slice(1)).toEqual([
      'decision BLOCK INVALID_CALL',
      'end ERROR',
      'answer 1 -32602',
      'drop refused',
    ]);
    const { sendInShort } = await play([], { profile: 'development' });
    expect(sendInShort('agent', message).slice(1)).toEqual([
      'decision ALLOW WOULD_BLOCK',
      'forward to server',
    ]);
  });

  it('is dropped when it has no id, and forwarded when it may pass', async () => {
    verifies('IP-7.4');
    const { sendInShort } = await play([noWrite]);
    const notice = (name: string) => ({ jsonrpc: '2.0', method: 'tools/call', params: { name } });
    expect(sendInShort('agent', notice('write')).slice(2)).toEqual([
      'end ERROR',
      'report DROPPED call_without_id',
      'drop refused',
    ]);
    expect(sendInShort('agent', notice('read')).slice(2)).toEqual(['end OK', 'forward to server']);
  });
});

describe('profiles and modes', () => {
  it('lets a denied call pass in development, and records the refusal that it was spared', async () => {
    verifies('EC-STDIO-033', 'F-023');
    const { send } = await play([noWrite], { profile: 'development' });
    const sent = send('agent', call(1, 'write'));
    expect(inShort(sent)).toEqual([
      'start write',
      'decision ALLOW WOULD_BLOCK',
      'forward to server',
    ]);
    const [decided] = eventsOf(sent, 'tool_call_decision');
    expect(decided?.decision.would).toMatchObject({ action: 'BLOCK', rule_id: 'no-write' });
    expect(check(DECISION.fields.would.shape, decided?.decision.would)).toEqual([]);
  });

  it('records every rule that matched, in the order of the policy', async () => {
    const { send } = await play([budget('cap', { limit_calls: 9 }), noWrite]);
    const [read] = eventsOf(send('agent', call(1, 'read')), 'tool_call_decision');
    const capped = { rule_id: 'cap', kind: 'budget', outcome: 'counted', note: null };
    expect(read?.trace).toEqual([{ ...capped, tally: { count: 1, limit: 9 } }]);
    const [write] = eventsOf(send('agent', call(2, 'write')), 'tool_call_decision');
    expect(write?.trace).toMatchObject([
      { rule_id: 'cap' },
      { rule_id: 'no-write', kind: 'deny', outcome: 'decided' },
    ]);
  });

  it('takes another policy between two calls and keeps the counters', async () => {
    const rule = budget('cap', { limit_calls: 2 });
    const { sendInShort, session } = await play([rule]);
    sendInShort('agent', call(1, 'a'));
    session.usePolicy(await snapshotOf([rule, noWrite]));
    expect(sendInShort('agent', call(2, 'write'))).toContain('answer 2 -32081');
    expect(sendInShort('agent', call(3, 'a'))).toContain('decision BLOCK BUDGET_EXCEEDED');
  });
});

describe('breakers', () => {
  const rule = breaker('errors', { error_threshold: 2, window_ms: 1_000 });

  it('count failed answers, open, and are reported once per window', async () => {
    verifies('IP-1.7');
    const { send, sendInShort } = await play([rule]);
    for (const id of [1, 2]) {
      send('agent', call(id, 'a'), 0);
      send('server', result(id, { isError: true }), 10);
    }
    const tripped = send('agent', call(3, 'a'), 20);
    expect(inShort(tripped)).toContain('decision BLOCK BREAKER_ERRORS');
    expect(eventsOf(tripped, 'breaker_trip')[0]?.breaker).toEqual({
      rule_id: 'errors',
      scope: 'run',
      cause: 'errors',
      count: 2,
      window_ms: 1_000,
      action: 'BLOCK',
      call_id: 'call-3',
      server_name: 'files',
      tool_name: 'a',
    });
    expect(sendInShort('agent', call(4, 'a'), 30)).not.toContain('breaker_trip');
    expect(sendInShort('agent', call(5, 'a'), 2_000)).toContain('forward to server');
  });

  it('count a call that was never answered', async () => {
    const limits = { orphanMs: 100 };
    const { send, sendInShort, session } = await play([rule], { config: { limits } });
    send('agent', call(1, 'a'), 0);
    send('agent', call(2, 'a'), 0);
    session.tick(100);
    expect(sendInShort('agent', call(3, 'a'), 101)).toContain('decision BLOCK BREAKER_ERRORS');
  });
});

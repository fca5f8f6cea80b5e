// Playbooks: events in, alerts out; then the monitor on a real journal.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Event,
  type EventBody,
  type EventType,
  eventWriter,
  type GuardrailsFile,
  isFailure,
  parseEventLine,
  STEWARD_CONFIG_FILES,
  withDefaults,
} from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { type Journal, openJournal } from '../journal/index.ts';
import { Monitor } from './index.ts';
import { judgeEvent, newMonitorState } from './judge-events.ts';
import { judgeTargets } from './judge-targets.ts';

const NOON = Date.parse('2026-03-04T12:00:00Z');
const HOUR_MS = 3_600_000;
const HASH = 'a'.repeat(64);
const writer = eventWriter({
  ...{ run_id: 'run', agent_id: 'steward', client: 'custom', env: 'dev' },
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
});

function line<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): string {
  return writer.line(type, body, '2026-03-04T12:00:00.000Z');
}

function eventIn(text: string): Event {
  const parsed = parseEventLine(text);
  if (!parsed.ok) throw new Error(`no event: ${JSON.stringify(parsed)}`);
  return parsed.event;
}

const CALL = { call_id: 'c', server_name: 'email', tool_name: 'send', args_hash: HASH };

function decided(change: Partial<EventBody<'tool_call_decision'>> = {}): string {
  return line('tool_call_decision', {
    call: CALL,
    decision: {
      ...{ action: 'ALLOW', rule_id: null, severity: 'info' },
      explain: { summary: 'ok', reason_code: 'ALLOWED' },
      policy: { policy_id: 'p', policy_version: '1', policy_hash: HASH },
    },
    ...change,
  });
}

const judged = (verdict: 'ALLOW' | 'BLOCK') =>
  decided({ judgements: [{ by: 'guardian', verdict, reason: 'because' }] });
const found = (finding: string) =>
  line('tool_call_end', {
    call: { ...CALL, content: { action: 'tag', findings: [finding] } },
    ...{ status: 'OK', latency_ms: 1, bytes_out: 1, preview: { truncated: false } },
  });

function guardrails(change: object): GuardrailsFile {
  const { shape, parse } = STEWARD_CONFIG_FILES['guardrails.yaml'];
  const read = parse(withDefaults(shape, change));
  if (!read.ok) throw new Error(JSON.stringify(read.mismatches));
  return read.value;
}

/** Takes each line, so many milliseconds after the one before; what was odd, in its order. */
function play(lines: readonly string[], monitor: object = {}, stepMs = 100): readonly string[] {
  const state = newMonitorState();
  const { monitor: settings } = guardrails({ monitor });
  return lines.flatMap((one, index) =>
    judgeEvent(state, eventIn(one), { settings, nowMs: NOON + index * stepMs }).map(
      ({ text }) => text,
    ),
  );
}

const times = (count: number, one: string) => Array.from({ length: count }, () => one);

describe('an event is odd', () => {
  test('when a tool is called more often in a minute than may be', () => {
    verifies('ST-4-ring3', 'ST-8.6');
    expect(play(times(5, decided()), { calls_per_minute: 5 })).toEqual([]);
    expect(play(times(6, decided()), { calls_per_minute: 5 })).toEqual([
      'email.send was called 6 times within a minute.',
    ]);
  });

  test('when a tool is called much more often in an hour than in those before', () => {
    const state = newMonitorState();
    const { monitor: settings } = guardrails({});
    const take = (nowMs: number) => judgeEvent(state, eventIn(decided()), { settings, nowMs });
    for (const hour of [0, 1, 2]) {
      for (const call of [0, 1]) expect(take(NOON + hour * HOUR_MS + call * 60_000)).toEqual([]);
    }
    const last = Array.from({ length: 20 }, (_, call) => take(NOON + 3 * HOUR_MS + call * 60_000));
    expect(last.slice(0, 19).flat()).toEqual([]);
    expect(last[19]).toEqual([
      {
        cause: 'spike:email.send',
        text: 'email.send was called 20 times in this hour; 2.0 is usual.',
      },
    ]);
  });

  test('when the guardian blocks a larger share than may be', () => {
    verifies('ST-4-ring3');
    const lines = [...times(6, judged('ALLOW')), ...times(3, judged('BLOCK'))];
    expect(play(lines)).toEqual(['The guardian has blocked 3 of 9 actions within an hour (33 %).']);
    expect(play(times(4, judged('BLOCK')))).toEqual([]);
  });

  test.each(['injection:override-instructions', 'hidden_text:tags'])(
    'when %s comes again and again',
    (finding) => {
      verifies('ST-4-ring3');
      expect(play(times(3, found(finding)))).toEqual([]);
      expect(play(times(4, found(finding)))).toEqual([
        '4 contents with injected instructions came within an hour.',
      ]);
      expect(play(times(4, found(finding)), {}, HOUR_MS)).toEqual([]);
      expect(play(times(9, found('personal:email')))).toEqual([]);
    },
  );

  test('when it is an action in the quiet hours', () => {
    verifies('ST-4-ring3');
    const hours = (from: string, to: string) => ({ quiet_hours: { from, to } });
    expect(play([decided()], hours('11:00', '13:00'))).toEqual([
      'email.send was called in the quiet hours.',
    ]);
    expect(play([decided()], hours('13:00', '11:00'))).toEqual([]);
  });

  test('when a breaker opens', () => {
    verifies('ST-8.6');
    const breaker: EventBody<'breaker_trip'>['breaker'] = {
      ...{ rule_id: 'loop', scope: 'tool', cause: 'errors', count: 10, window_ms: 300_000 },
      ...{ action: 'BLOCK', server_name: 'web', tool_name: 'fetch\u202e' },
    };
    const [text] = play([line('breaker_trip', { breaker })]);
    expect(text).toContain('10 errors');
    expect(text).not.toContain('\u202e');
  });

  test('when governance is degraded, such as by hooks that are silent', () => {
    const health = {
      status: 'degraded',
      reason: 'no hook of claude was heard',
      uptime_ms: 1,
    } as const;
    expect(play([line('shim_health', { health })])).toEqual([
      'Governance is degraded: no hook of claude was heard',
    ]);
  });

  test('when a host or a recipient is new, but for the very first', () => {
    verifies('ST-4-ring3');
    const { monitor } = guardrails({});
    const ann = { kind: 'email', value: 'ann@example.com' } as const;
    const eve = { kind: 'email', value: 'eve@example.net' } as const;
    const host = { kind: 'host', value: 'example.com' } as const;
    const first = judgeTargets([], [ann, host], monitor);
    expect(first.odd).toEqual([]);
    const second = judgeTargets(first.known, [ann, eve], monitor);
    expect(second.odd.map(({ text }) => text)).toEqual([
      'A recipient was reached for the first time: eve@example.net',
    ]);
    expect(judgeTargets(second.known, [eve], monitor).odd).toEqual([]);
    expect(judgeTargets(first.known, [eve], { ...monitor, new_recipients: false }).odd).toEqual([]);
  });
});

describe('the monitor', () => {
  let folder: string;
  let journal: Journal;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = NOON;
    folder = mkdtempSync(join(tmpdir(), 'sub-monitor-'));
    const opened = await openJournal(join(folder, 'journal.db'), () => nowMs);
    if (isFailure(opened)) throw new Error(opened.message);
    journal = opened;
    const conversationId = 'talk';
    journal.conversationFor({
      id: conversationId,
      channel: 'telegram',
      person: 'ada',
      address: '1',
    });
    journal.addMessage({ conversationId, role: 'user', text: 'Hello.' });
  });
  afterEach(() => {
    journal.close();
    rmSync(folder, { recursive: true });
  });

  const watch = (change: object = {}) => {
    const rules = guardrails({ monitor: { calls_per_minute: 1, ...change }, day: { usd: 1 } });
    return new Monitor({
      ...{ journal, guardrails: () => rules, nowMs: () => nowMs },
      log: (failed) => expect.unreachable(failed),
    });
  };
  const told = () =>
    journal
      .lastMessages('talk', 50)
      .filter(({ role }) => role === 'notice')
      .map(({ text }) => text);
  const calls = (tool: string) => decided({ call: { ...CALL, tool_name: tool } });

  test('tells each cause once in an hour, where the user has written last, and counts the rest', () => {
    verifies('ST-4-ring3');
    const monitor = watch();
    for (const one of times(5, calls('send'))) monitor.take(one);
    expect(told()).toEqual(['Alert: email.send was called 2 times within a minute.']);
    expect(journal.alerts.since(NOON, 10)).toMatchObject([{ count: 4, isTold: true }]);
    nowMs += HOUR_MS + 1;
    for (const one of times(2, calls('send'))) monitor.take(one);
    expect(told()).toHaveLength(2);
  });

  test('tells no more in a day than may be, says so, and records the rest', () => {
    const monitor = watch({ alerts_per_day: 2 });
    for (const tool of ['a', 'b', 'c']) for (const one of times(2, calls(tool))) monitor.take(one);
    expect(told()).toHaveLength(2);
    expect(told()[1]).toContain('only recorded');
    expect(journal.alerts.since(NOON, 10).map(({ isTold }) => isTold)).toEqual([false, true, true]);
  });

  test('tells of a budget that is nearly spent, once', () => {
    const monitor = watch();
    const turn = { inputTokens: 1, outputTokens: 1, workMs: 1, atMs: NOON };
    journal.spend({ purpose: 'agent', taskId: null, costMicros: 850_000, ...turn });
    const end = line('turn_end', {
      call: { call_id: 't', provider: 'p', model: 'm' },
      ...{ status: 'OK', latency_ms: 1, bytes_out: 1, preview: { truncated: false } },
    });
    for (const one of times(2, end)) monitor.take(one);
    expect(told()).toEqual(['Alert: 85 % of the money of this day is spent.']);
  });

  test('is not stopped by a line that it cannot read', () => {
    watch().take('{"type":');
    expect(told()).toEqual([]);
  });
});

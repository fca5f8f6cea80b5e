import type { Event } from '@subluminal/contracts';
import * as fc from 'fast-check';
import picocolors from 'picocolors';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../terminal/text.ts';
import type { LineOptions } from './call-lines.ts';
import {
  blocked,
  createTailRenderer,
  decision,
  end,
  event,
  localTs,
  type Parts,
  POLICY,
  runEnd,
  runStart,
  start,
} from './recorded.test-support.ts';

const colors = picocolors.createColors(false);
const nowMs = Date.parse(localTs(0));

function renderer(options: Partial<LineOptions> = {}) {
  return createTailRenderer({ colors, width: 140, nowMs, ...options });
}

function shown(events: readonly Event[], options: Partial<LineOptions> = {}) {
  const tail = renderer(options);
  return events.flatMap((one) => tail.push(one));
}

const at = { ts: localTs(7, 45) };

test('the tail shows a call that passed, one that was stopped and one that failed in the same columns', () => {
  const hint = {
    hint_text: 'Open a pull request instead.',
    suggested_args: null,
    retry_advice: null,
    hint_kind: 'SAFETY',
  };
  const broken = {
    status: 'ERROR',
    latency_ms: 1_240,
    error: { class: 'upstream_error', message: 'no remote' },
  };
  const call = (call_id: string, tool_name = 'push'): Parts => ({ call_id, tool_name });
  expect(
    shown([
      decision(),
      end({}, {}, at),
      blocked({}, call('c2'), at),
      blocked({ action: 'REJECT_WITH_HINT', rule_id: 'review', hint }, call('c3'), at),
      blocked({ action: 'THROTTLE', backoff_ms: 2_000 }, call('c4'), at),
      blocked(
        {
          action: 'TERMINATE_RUN',
          terminate: { terminate_code: 'X', terminate_message: 'Enough.' },
        },
        call('c5'),
        at,
      ),
      decision({}, call('c6', 'fetch')),
      end(broken, call('c6', 'fetch'), at),
      end({}, call('c7'), at),
    ]),
  ).toEqual([
    '12:00:07.045  ● ALLOW      git/push                    12 ms  run-1',
    '12:00:07.045  ■ BLOCK      git/push                           run-1      no-push  Nobody pushes here.',
    '12:00:07.045  ◆ HINT       git/push                           run-1      review   Open a pull request instead.',
    '12:00:07.045  ▲ THROTTLE   git/push                           run-1      no-push  wait 2.0 s: Nobody pushes here.',
    '12:00:07.045  ✕ TERMINATE  git/push                           run-1      no-push  Enough.',
    '12:00:07.045  ● ALLOW      git/fetch                   1.2 s  run-1               ERROR: no remote',
    '12:00:07.045  · ended      git/push                    12 ms  run-1',
  ]);
});

test('a line marks a call that an enforcing policy would have stopped', () => {
  const would = { action: 'BLOCK', rule_id: 'no-push', reason_code: 'X', summary: 'No.' };
  const explain = { reason_code: 'WOULD_BLOCK', summary: 'An enforcing policy would stop this.' };
  expect(shown([decision({ would, explain }), end()])).toEqual([
    '12:00:00.000  ! ALLOW      git/push                    12 ms  run-1      no-push  would BLOCK: An enforcing policy would stop this.',
  ]);
});

test('a line says once that a call would have been refused', () => {
  const would = { action: 'BLOCK', rule_id: 'no-push', reason_code: 'X', summary: 'No.' };
  const explain = { reason_code: 'X', summary: 'Would be refused: Nobody pushes here.' };
  const [line = ''] = shown([decision({ would, explain }), end()]);
  expect(line).toMatch(/ would BLOCK: Nobody pushes here\.$/);
});

test('names the server whose shim has reloaded its policy, once it is known', () => {
  const shim = (shim_id: string) => ({ source: { host_id: 'h', proc_id: 'p', shim_id } });
  const reloaded = (shim_id: string) =>
    event('policy_loaded', { policy: POLICY, mode: 'control', reload: true }, shim(shim_id));
  const lines = shown([
    reloaded('one'),
    end({}, { server_name: 'git' }, shim('one')),
    end({}, { server_name: 'files', call_id: 'c2' }, shim('two')),
    reloaded('one'),
    reloaded('two'),
    reloaded('three'),
  ]);
  expect(lines.filter((line) => line.includes('↻')).map((line) => line.slice(14))).toEqual([
    '↻ policy reloaded: team 1.0.0 (aaaaaaaaaaaa…), control',
    '↻ policy reloaded for git: team 1.0.0 (aaaaaaaaaaaa…), control',
    '↻ policy reloaded for files: team 1.0.0 (aaaaaaaaaaaa…), control',
    '↻ policy reloaded: team 1.0.0 (aaaaaaaaaaaa…), control',
  ]);
});

test('the tail shows runs, reloads and breakers on lines of their own', () => {
  const breaker = {
    rule_id: 'loop',
    scope: 'run',
    cause: 'repeats',
    count: 3,
    window_ms: 1_000,
    action: 'BLOCK',
    server_name: 'git',
    tool_name: 'push',
  };
  const secret = { inject_as: 'TOKEN', secret_ref: 'gh', source: 'env', success: false };
  expect(
    shown([
      runStart(),
      event('policy_loaded', { policy: POLICY, mode: 'control', reload: true }),
      event('breaker_trip', { breaker }),
      event('secret_injection', { secret }),
      runEnd(),
    ]),
  ).toEqual([
    '12:00:00.000  ▶ run run-1 of ada (claude, dev), guardrails by team 1.0.0',
    '12:00:00.000  ↻ policy reloaded: team 1.0.0 (aaaaaaaaaaaa…), control',
    '12:00:00.000  ! breaker loop tripped at git/push: 3 repeats in 1000 ms, BLOCK',
    '12:00:00.000  ! secret gh is missing: TOKEN was not set (from env)',
    '12:00:00.000  □ run run-1 SUCCEEDED: 3 calls, 2 allowed, 1 blocked, 0 throttled, 1 error, 2.5 s',
  ]);
});

test('the tail shows who is asked about a call, and the answer', () => {
  const step = (approval: Parts) =>
    event('approval', { call: { call_id: 'c1' }, approval: { rule_id: 'ask', ...approval } });
  const id = '0198c0de-7a11-7000-8000-0000deadbeef';
  const said = { by: 'ann', channel: 'slack' };
  expect(
    shown([
      start(),
      step({ id, state: 'asked' }),
      step({ id, state: 'asked', channel: 'client' }),
      step({ id, state: 'approved', ...said }),
      step({ id, state: 'approved', ...said, grant_id: 'g1' }),
      step({ id, state: 'expired', by: 'time', channel: 'clock' }),
      step({ state: 'auto_approved' }),
    ]),
  ).toEqual([
    '12:00:00.000  ? sub approvals show deadbeef: a call to git waits for a person (rule ask)',
    '12:00:00.000  ? a call to git waits for a person (client) (rule ask)',
    '12:00:00.000  · a call to git was approved by ann (slack) (rule ask)',
    '12:00:00.000  · a call to git was approved by ann (slack), grant g1 (rule ask)',
    '12:00:00.000  · a call to git was not approved in time (rule ask)',
    '12:00:00.000  · a call to git was approved by the development profile (rule ask)',
  ]);
});

test('the tail shows how to answer, however narrow the terminal is', () => {
  const id = '0198c0de-7a11-7000-8000-0000deadbeef';
  const asked = event('approval', {
    call: { call_id: 'c1' },
    approval: { id, rule_id: 'gate:taint', state: 'asked' },
  });
  for (const width of [40, 60, 80]) {
    expect(shown([start(), asked], { width }).join()).toContain('sub approvals show deadbeef');
  }
});

test('the tail shows calls that have not ended when no more events will come', () => {
  const tail = renderer();
  expect([tail.push(start()), tail.push(decision({}, { call_id: 'c1' }))].flat()).toEqual([]);
  expect(tail.rest()).toEqual([
    '12:00:00.000  … waiting    git/push                           run-1',
  ]);
  expect(tail.rest()).toEqual([]);
});

test('a line of its own names the day when it changes', () => {
  const yesterday = { ts: new Date(2026, 0, 30, 23, 59, 59).toISOString() };
  const today = { ts: localTs(1) };
  const lines = shown([end({}, {}, yesterday), end({}, { call_id: 'c2' }, today)]);
  expect(lines.map((line) => line.slice(0, 16))).toEqual([
    '── 2026-01-30 ──',
    '23:59:59.000  · ',
    '── 2026-01-31 ──',
    '12:00:01.000  · ',
  ]);
});

test('a line shortens the id of a run to its end, which differs between runs', () => {
  const [line] = shown([end({}, {}, { run_id: '0198c0de-7a11-7000-8000-0123456789ab' })]);
  expect(line).toContain('…456789ab');
});

test('the columns grow with the names, and never shrink', () => {
  const long = { call_id: 'c1', server_name: 'filesystem', tool_name: 'read_text_file' };
  const lines = shown([end({}, long), end({}, { call_id: 'c2' })]);
  expect(lines.map((line) => line.indexOf('12 ms'))).toEqual([56, 56]);
});

describe('in a terminal', () => {
  const hostile = fc.string({
    unit: fc.oneof(
      fc.constantFrom('日', 'Ａ', '🙂', '\u001b[2J', '\n', '\u202e', '::x', 'y'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
    ),
    minLength: 1,
    maxLength: 80,
  });
  const anyEvents = fc
    .record({
      tool_name: hostile,
      server_name: hostile,
      rule_id: hostile,
      summary: hostile,
      run_id: hostile,
    })
    .map(({ tool_name, server_name, rule_id, summary, run_id }) => [
      runStart({ run_id, agent_id: summary }),
      blocked(
        { rule_id, explain: { summary, reason_code: 'X' } },
        { tool_name, server_name },
        { run_id },
      ),
    ]);

  test('no line is wider than it, or acts on it', () => {
    fc.assert(
      fc.property(anyEvents, fc.integer({ min: 1, max: 200 }), (events, width) => {
        for (const line of shown(events, { width })) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('each line asks anew how wide it is', () => {
    let width = 200;
    const tail = renderer({ width: () => width });
    const summary = 'word '.repeat(30);
    const explain = { summary, reason_code: 'X' };
    expect(tail.push(blocked({ explain }))[0]?.length).toBeGreaterThan(150);
    width = 80;
    expect(tail.push(blocked({ explain }, { call_id: 'c2' }))[0]?.length).toBeLessThanOrEqual(80);
  });

  test('one without room for the whole id of a run still has room for what became of it', () => {
    const run_id = '01a1e211-146a-787d-9bae-e158e2c8f9c4';
    const ended = (width: number) => shown([runEnd({ run_id })], { width });
    expect(ended(140)).toEqual([expect.stringContaining(`□ run ${run_id} SUCCEEDED: `)]);
    expect(ended(100)).toEqual([
      '12:00:00  □ run …e2c8f9c4 SUCCEEDED: 3 calls, 2 allowed, 1 blocked, 0 throttled, 1 error, 2.5 s',
    ]);
    expect(ended(50)).toEqual(['□ run …e2c8f9c4 SUCCEEDED: 3 calls, 2 allowed, 1 …']);
  });

  test('a narrow one leaves out what matters least', () => {
    expect(shown([blocked()], { width: 80 })).toEqual([
      '12:00:00  ■ BLOCK      git/push                   no-push  Nobody pushes here.',
    ]);
    expect(shown([blocked()], { width: 50 })).toEqual([
      '■ BLOCK      git/push          Nobody pushes here.',
    ]);
  });
});

test('a line says the same with and without colours', () => {
  const loud = picocolors.createColors(true);
  const events = [runStart(), end(), blocked({}, { call_id: 'c2' }), runEnd()];
  const codes = /\u001b\[[0-9;]*m/g;
  const coloured = shown(events, { colors: loud });
  expect(coloured.join('')).toMatch(codes);
  expect(coloured.map((line) => line.replace(codes, '').trimEnd())).toEqual(shown(events));
});

test('a line names the findings in a call and in its answer before the reason', () => {
  const content = (action: string, ...findings: string[]): Parts => ({
    content: { action, findings },
  });
  const found = content('redact', 'secret:aws-access-key', 'personal:email (tag)');
  const lines = shown(
    [
      decision({}, { call_id: 'c1', ...found }),
      end({}, { call_id: 'c1', ...content('tag', 'a:1', 'a:2', 'a:3', 'a:4') }),
      blocked({}, { call_id: 'c2', ...content('block', 'leak:token') }),
    ],
    { width: 200 },
  );
  expect(lines[0]).toMatch(
    / redacted secret:aws-access-key, personal:email \(only tagged\); tagged a:1, a:2, a:3 and 1 more in the answer$/,
  );
  expect(lines[1]).toMatch(/ no-push +blocked leak:token; Nobody pushes here\.$/);
});

test('a notice about a server is one harmless line', () => {
  const surface = {
    what: 'tool_changed',
    enforced: true,
    server_name: 'git',
    name: 'push\u001b[2J\n',
    reason_code: 'PIN_CHANGED',
    detail: 'The description\r\nis another one.',
  };
  const told = { ...surface, what: 'tool_added', enforced: false, name: 'pull', detail: 'New.' };
  const lines = shown([event('surface', { surface }), event('surface', { surface: told })]);
  expect(lines).toHaveLength(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f]/);
  expect(lines[0]).toMatch(/! git\/push.* has changed: The description.*is another one\.$/);
  expect(lines[1]).toMatch(/· git\/pull is new \(told only\): New\.$/);
});

describe('the arguments of a call', () => {
  const preview = {
    truncated: false,
    args_preview: '{"content":"\\u001b[2Jx","path":"/home/me/app/src/deep/folder/and/more/x.ts"}',
  };
  const events = [start({ preview }), decision(), end({}, {}, at)];

  test('stand behind the tool: the one that tells most, cut inside where there is no room', () => {
    const [wide = ''] = shown(events, { width: 160 });
    expect(wide).toContain('git/push                  path=/home/me/…');
    expect(wide).toContain('/more/x.ts    12 ms');
    const [piped = ''] = shown(events, { width: Number.POSITIVE_INFINITY });
    expect(piped).toContain('path=/home/me/app/src/deep/folder/and/more/x.ts');
    for (const width of [110, 80, 60, 40]) {
      const [line = ''] = shown(events, { width });
      expect(displayWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  test('are shown at 80 columns, also beside a long name and a long rule', () => {
    const call = { tool_name: 'a-tool-with-a-long-name' };
    const long = [
      start({ ...call, preview }),
      blocked({ rule_id: 'a-rule-with-a-long-name' }, call),
    ];
    const [line = ''] = shown(long, { width: 80 });
    expect(line).toMatch(/^12:00:00 {2}■ BLOCK {6}git\/a-tool\S+ {2}path=…\S+x\.ts +a-rule/);
    expect(displayWidth(line)).toBeLessThanOrEqual(80);
  });

  test('are all in a line below, harmless, when they are asked for', () => {
    const tail = createTailRenderer({ colors, width: 90, nowMs }, { allArgs: true });
    const lines = events.flatMap((one) => tail.push(one));
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ {4}\{"content":/);
    expect(displayWidth(lines[1] ?? '')).toBeLessThanOrEqual(90);
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { POLICY, Shim } from '../testing/events.ts';
import { anyHistory } from '../testing/random-events.ts';
import { summaryMarkdown } from './markdown.ts';
import { summarize } from './summary.ts';

const ERROR = { class: 'upstream_error', message: 'no such file' } as const;

function lines(shim: Shim): readonly string[] {
  const would = { action: 'BLOCK', rule_id: 'w', reason_code: 'X', summary: 'would' } as const;
  const blocked = { class: 'policy_block', message: 'blocked' } as const;
  return [
    shim.runStart(),
    ...shim.call('ok'),
    shim.start('no'),
    shim.decision('no', { action: 'BLOCK', rule_id: 'no-writes', severity: 'critical' }),
    shim.end('no', { status: 'ERROR', error: blocked }),
    shim.start('slow'),
    shim.decision('slow', { action: 'THROTTLE', rule_id: 'rate', backoff_ms: 5 }),
    shim.start('bad'),
    shim.decision('bad', { would }),
    shim.end('bad', { status: 'ERROR', error: ERROR }),
    shim.start('open'),
    shim.raw('{"type":"later"}'),
    shim.raw('nonsense'),
    shim.runEnd(5),
  ].map(({ line }) => line);
}

describe('the summary of a run', () => {
  it('counts an answer that was held back, in whatever order its events come', () => {
    const shim = new Shim('a');
    const blocked = { class: 'policy_block', message: 'held back' } as const;
    const own = [
      shim.start('held'),
      shim.decision('held'),
      shim.end('held', { status: 'ERROR', error: blocked }),
      shim.start('no'),
      shim.decision('no', { action: 'BLOCK', rule_id: 'no-writes' }),
      shim.end('no', { status: 'ERROR', error: blocked }),
    ].map(({ line }) => line);
    for (const all of [own, own.toReversed(), [...own, ...own]]) {
      expect(summarize(all)).toMatchObject({
        totals: { calls_total: 2, calls_allowed: 1, calls_blocked: 1, errors_total: 0 },
        answers_held_back: 1,
        calls_undecided: 0,
      });
    }
    expect(summaryMarkdown(summarize(own))).toContain('| Answers held back | 1 |');
  });

  it('says in which ways it was decided by less than it should be', () => {
    const shim = new Shim('a');
    const reason = '2 uses of tools of codex reached no hook: write_stdin';
    const health = (status: 'ok' | 'degraded', more = {}) =>
      shim.line('shim_health', { health: { status, uptime_ms: 1, ...more } });
    const all = [
      shim.runStart(),
      health('ok'),
      health('degraded', { reason }),
      health('degraded', { events_spooled: 3 }),
    ];
    const summary = summarize(all.map(({ line }) => line));
    expect(summary).toMatchObject({
      warnings_total: 2,
      warnings: [{ reason }, { reason: '3 events spooled, 0 previews dropped' }],
    });
    expect(summaryMarkdown(summary)).toContain(reason);
    expect(summaryMarkdown(summarize(lines(new Shim('b'))))).not.toContain('## Warnings');
  });

  it('names every policy that was in force, with what it has decided', () => {
    const shim = new Shim('a');
    const other = { ...POLICY, policy_id: 'own', policy_hash: 'b'.repeat(64) };
    const loaded = shim.line('policy_loaded', { policy: other, mode: 'control' });
    const all = [shim.runStart(), loaded, ...shim.call('ok')];
    const summary = summarize(all.map(({ line }) => line));
    expect(summary.policies).toEqual([
      { ...POLICY, calls: 1, refused: 0 },
      { ...other, calls: 0, refused: 0 },
    ]);
    expect(summaryMarkdown(summary)).toContain('## Policies');
    expect(summaryMarkdown(summarize(lines(new Shim('a'))))).not.toContain('## Policies');
  });

  it('counts calls by decision, rule and tool, and lists what was refused and what failed', () => {
    const summary = summarize(lines(new Shim('a')));
    expect(summary).toMatchObject({
      run_id: 'run-1',
      agent_id: 'fixer',
      status: 'SUCCEEDED',
      mode: 'guardrails',
      policy: POLICY,
      totals: {
        calls_total: 5,
        calls_allowed: 2,
        calls_blocked: 1,
        calls_throttled: 1,
        errors_total: 1,
      },
      calls_undecided: 1,
      decisions: { ALLOW: 2, BLOCK: 1, THROTTLE: 1, REJECT_WITH_HINT: 0, TERMINATE_RUN: 0 },
      rules: [
        { rule_id: 'no-writes', count: 1 },
        { rule_id: 'rate', count: 1 },
      ],
      tools: [{ server_name: 'git', tool_name: 'log', calls: 5, refused: 2, errors: 1 }],
      violations_total: 2,
      spared_total: 1,
      spared: [{ call_id: 'bad', action: 'BLOCK', rule_id: 'w' }],
      errors: [{ call_id: 'bad', message: 'no such file' }],
      lines_malformed: 1,
      events_unknown: 1,
      incomplete: false,
    });
    expect(summary.violations.map(({ call_id, action }) => [call_id, action])).toEqual([
      ['no', 'BLOCK'],
      ['slow', 'THROTTLE'],
    ]);
    expect(summary.totals.duration_ms).toBeGreaterThan(0);
  });

  it('is that of nothing when there is nothing', () => {
    expect(summarize([])).toMatchObject({ run_id: null, status: null, totals: { duration_ms: 0 } });
    expect(summaryMarkdown(summarize([]))).toContain('no end on record');
  });

  it('counts a call once, in whatever order its events come', () => {
    const property = fc.property(anyHistory(), fc.array(fc.nat()), (history, order) => {
      const once = [...new Set(history.map(({ line }) => line))];
      const ranks = new Map(once.map((line, index) => [line, order[index] ?? 0]));
      const mixed = once.toSorted((left, right) => {
        return (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0);
      });
      const [left, right] = [summarize(once), summarize(mixed)];
      expect(right.totals.calls_total).toBe(left.totals.calls_total);
      expect(right.calls_undecided).toBe(left.calls_undecided);
      const { ALLOW, BLOCK, THROTTLE, REJECT_WITH_HINT, TERMINATE_RUN } = left.decisions;
      const decided = ALLOW + BLOCK + THROTTLE + REJECT_WITH_HINT + TERMINATE_RUN;
      expect(left.totals.calls_total).toBe(decided + left.calls_undecided);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

describe('the page about a run', () => {
  it('shows what matters', () => {
    const page = summaryMarkdown(summarize(lines(new Shim('a'))));
    expect(page).toContain('# Run ` run-1 `');
    expect(page).toContain('| Blocked | 1 |');
    expect(page).toContain('## Violations');
    expect(page).toContain('` no-writes `');
    expect(page).toContain('` no such file `');
    expect(page).toContain('## Would have been refused');
  });

  it('makes hostile text harmless', () => {
    const evil =
      '\u001b[2J<img src=x onerror=alert(1)> ![](http://evil) @team | `a` ``b`` \n# Owned';
    const shim = new Shim('a', { run: evil, agent: evil, server: evil, tool: evil });
    const made = { action: 'BLOCK', rule_id: evil, reason_code: evil, summary: evil } as const;
    const page = summaryMarkdown(summarize([shim.start('c').line, shim.decision('c', made).line]));
    expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(page).not.toContain('\n# Owned');
    // Everything stands between fences of three backticks, which the text does not have.
    for (const line of page.split('\n').filter((text) => text.includes('img'))) {
      const outside = line.split('```').filter((_, index) => index % 2 === 0);
      expect(outside.join('')).not.toMatch(/img|evil|@team|Owned/);
      expect(line.split('```').length % 2).toBe(1);
    }
  });

  it('never lets any text out of its fence or its row', () => {
    const property = fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const shim = new Shim('a', { run: 'r', tool: `${text}|\``.slice(0, 100) });
      const [first, second] = shim.call('c');
      const page = summaryMarkdown(summarize([first?.line ?? '', second?.line ?? '']));
      const row = page.split('\n').find((line) => line.startsWith('| ` git `'));
      const cells = row?.replaceAll(String.raw`\|`, '').split('|');
      expect(cells).toHaveLength(7);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('stays readable when there is a lot', () => {
    const shim = new Shim('a');
    const refused = Array.from(
      { length: 1_500 },
      (_, n) => shim.decision(`c${n}`, { action: 'BLOCK', rule_id: 'r' }).line,
    );
    const summary = summarize(refused);
    expect(summary).toMatchObject({ violations_total: 1_500 });
    expect(summary.violations).toHaveLength(1_000);
    expect(summaryMarkdown(summary)).toContain('… and 1450 more.');
  });
});

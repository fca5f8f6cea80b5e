import type { Event } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { decision, end, sha256, start, turnStart } from '../testing/recording.ts';
import { budget, deny, snapshotOf } from '../testing/scenario.ts';
import { formatReplay } from './format-replay.ts';
import { replay } from './replay.ts';
import type { ReplayLimits } from './types.ts';

async function read(events: Iterable<Event>, limits: Partial<ReplayLimits> = {}) {
  return replay(await snapshotOf([budget('b', { limit_calls: 1 })]), events, { sha256, limits });
}
async function notesOf(events: Iterable<Event>, limits?: Partial<ReplayLimits>) {
  const { notes } = await read(events, limits);
  return Object.fromEntries(Object.entries(notes).filter(([, count]) => count > 0));
}
const actionsOf = (result: Awaited<ReturnType<typeof read>>) =>
  result.calls.map(({ replayed }) => replayed?.action);

describe('an imperfect recording', () => {
  it('that is complete has no notes', async () => {
    const events = [start('a', 1), decision('a'), end('a', 'OK'), start('b', 2), decision('b')];
    expect(await notesOf(events)).toEqual({});
  });

  it('says how many turns of models are left out', async () => {
    const result = await read([start('a', 1), decision('a'), turnStart('t', 1)]);
    expect(result.calls).toHaveLength(1);
    expect(formatReplay(result)).toContain('turns of models, which are not replayed: 1');
  });

  it('replays a decision whose start is missing, and counts the call once', async () => {
    const result = await read([decision('a'), end('a', 'OK'), start('b', 1)]);
    expect(actionsOf(result)).toEqual(['ALLOW', 'BLOCK']);
    expect(result.calls[0]).toMatchObject({ seq: null, args: 'unknown', verdict: 'same' });
    expect(result.notes.decisions_without_start).toBe(1);
  });

  it('may have a start after its decision', async () => {
    const events = [decision('a'), start('a', 1)];
    const { calls } = await read(events);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ seq: 1, verdict: 'same' });
    expect(await notesOf(events)).toEqual({ decisions_without_start: 1, late_starts: 1 });
  });

  it('may have a decision after the end', async () => {
    const { calls, notes } = await read([start('a', 1), end('a', 'OK'), decision('a')]);
    expect(calls.map(({ verdict }) => verdict)).toEqual(['same']);
    expect(notes.decisions_without_start).toBe(0);
  });

  it.each<[string, readonly Event[], object]>([
    ['an end without its start', [end('a', 'ERROR')], { ends_without_start: 1 }],
    ['a start twice', [start('a', 1), start('a', 1)], { repeated_starts: 1 }],
    ['a second decision', [start('a', 1), decision('a'), decision('a')], { repeated_decisions: 1 }],
    ['calls out of order', [start('b', 2), start('a', 1)], { out_of_order: 1 }],
    ['calls that are missing', [start('a', 1), start('d', 4)], { calls_missing: 2 }],
  ])('notes %s', async (_name, events, notes) => {
    expect(await notesOf(events)).toEqual(notes);
  });

  it('uses the time before for a time that cannot be read', async () => {
    const broken = { ...start('b', 2), ts: '2026-02-30T00:00:61Z' };
    expect(await notesOf([start('a', 1), broken])).toEqual({ bad_times: 1 });
  });

  it('compares with the first decision, which was the policy and not a person', async () => {
    const first = decision('a', { action: 'BLOCK', rule_id: 'x' });
    const { calls } = await read([start('a', 1), first, decision('a')]);
    expect(calls[0]).toMatchObject({
      recorded: { action: 'BLOCK', rule_id: 'x' },
      verdict: 'looser',
    });
  });

  it('keeps calls of the same name in different runs apart', async () => {
    const events = [
      start('a', 1, { run: 'x' }),
      start('a', 1, { run: 'y' }),
      decision('a', {}, { run: 'y' }),
    ];
    const { calls } = await read(events);
    expect(calls.map(({ verdict }) => verdict)).toEqual(['unrecorded', 'same']);
  });
});

describe('a large recording', () => {
  it('gives up the run that was silent longest, and notes it', async () => {
    const at = (call_id: string, run: string, seq = 1) => start(call_id, seq, { run });
    const events = [
      at('1', 'x'),
      at('2', 'y'),
      at('3', 'x', 2),
      at('4', 'z'),
      at('5', 'x', 3),
      at('6', 'y', 2),
    ];
    const result = await read(events, { runsMax: 2 });
    expect(actionsOf(result)).toEqual(['ALLOW', 'ALLOW', 'BLOCK', 'ALLOW', 'BLOCK', 'ALLOW']);
    expect(result.notes.runs_forgotten).toBe(2);
  });

  it('gives up the oldest open call, and notes it', async () => {
    const events = [start('a', 1), start('b', 2), start('c', 3), decision('a')];
    expect(await notesOf(events, { openMax: 2 })).toEqual({
      calls_forgotten: 2,
      decisions_without_start: 1,
    });
  });

  it('gives up closed calls without a note', async () => {
    const closed = ['a', 'b', 'c'].flatMap((id, at) => [
      start(id, at + 1),
      decision(id),
      end(id, 'OK'),
    ]);
    expect(await notesOf(closed, { openMax: 1 })).toEqual({});
  });

  it('lists no more calls than asked for, and still counts them', async () => {
    const { calls, summary, notes } = await read([start('a', 1), start('b', 2), decision('b')], {
      callsMax: 1,
    });
    expect(calls).toHaveLength(1);
    expect(summary).toMatchObject({ calls: 2, verdicts: { unrecorded: 1, stricter: 1 } });
    expect(notes.calls_left_out).toBe(1);
  });

  it('is read as it comes, without being held', async () => {
    function* endless(): Generator<Event> {
      for (let seq = 1; seq <= 20_000; seq++) {
        yield start(`c${seq}`, seq, { run: `run${seq % 5_000}` });
      }
    }
    const { summary, notes } = await read(endless(), { callsMax: 10, runsMax: 10, openMax: 10 });
    expect(summary.calls).toBe(20_000);
    expect(notes).toMatchObject({ runs_forgotten: 19_990, calls_forgotten: 19_990 });
  });
});

describe('formatReplay', () => {
  it('shows the outcome, what differs, the rules and the notes', async () => {
    const events = [
      start('a', 1),
      decision('a'),
      start('b', 2),
      decision('b'),
      start('c', 4),
      decision('c', { action: 'BLOCK', rule_id: 'b' }),
    ];
    expect(formatReplay(await read(events)).split('\n')).toEqual([
      '3 calls of 1 run replayed with tests 1: 2 same, 1 stricter, 0 looser, 0 by another rule, 0 undetermined, 0 unrecorded.',
      '',
      '~ stricter         run #2  git / push  ALLOW → BLOCK by b',
      '',
      'rules:',
      '  b  recorded 1, replayed 2',
      '',
      'notes:',
      '  calls missing, so counters may stand too low: 1',
    ]);
  });

  it('counts calls and runs in grammatical words', async () => {
    const text = formatReplay(await read([start('a', 1, { run: 'x' })]));
    expect(text).toMatch(/^1 call of 1 run replayed/);
    const gap = [start('a', 1, { run: 'x' }), start('b', 9, { run: 'x' })];
    expect(formatReplay(await read(gap))).toContain(
      '  calls missing, so counters may stand too low: 7',
    );
  });

  it('names what is missing where nothing can be compared', async () => {
    const snapshot = await snapshotOf([deny('no', { args: { has_keys: ['x'] } })]);
    const unknown = start('b', 2, { preview: { truncated: true } });
    const text = formatReplay(replay(snapshot, [start('a', 1), unknown], { sha256 }));
    expect(text).toContain('· unrecorded       run #1  git / push  no decision → ALLOW');
    expect(text).toContain(
      '? undetermined     run #2  git / push  no decision → needs arguments that were not recorded',
    );
  });

  it('makes hostile names harmless and stops after enough lines', async () => {
    const events = Array.from({ length: 250 }, (_, at) =>
      start(`c${at}`, at + 1, { tool_name: '\u001b[2J' }),
    );
    const text = formatReplay(await read(events));
    expect(text).not.toContain('\u001b');
    expect(text).toContain('git / \\u{1b}[2J');
    expect(text).toContain('  … and 50 more');
  });
});

import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { DAMAGES, damaged } from '../testing/damages.ts';
import { SAMPLES, sampleOf } from '../testing/samples.ts';
import { EVENT_LINE_LENGTH_MAX, type ParsedEvent, parseEvent, parseEventLine } from './parse.ts';

const EVENTS = SAMPLES.filter((sample) => sample.schema === 'event');

/** The paths a parse complains about. */
function complaints(parsed: ParsedEvent): readonly string[] {
  if (parsed.ok || parsed.kind !== 'malformed') return [];
  return parsed.mismatches.map((mismatch) => mismatch.path.join('.'));
}

function complaintsAbout(sample: string, damage: Parameters<typeof damaged>[1]) {
  return complaints(parseEvent(damaged(sampleOf(sample).value, damage)));
}

describe('parseEvent', () => {
  it('parseEvent knows the five required types and the optional ones', () => {
    verifies('IP-1.2');
    const types = EVENTS.map(({ value }) => parseEvent(value)).map(
      (parsed) => parsed.ok && parsed.event.type,
    );
    expect(new Set(types)).toEqual(
      new Set([
        'run_start',
        'tool_call_start',
        'tool_call_decision',
        'tool_call_end',
        'run_end',
        'hint_issued',
        'policy_loaded',
        'secret_injection',
        'shim_health',
        'breaker_trip',
        'approval',
        'surface',
        'change_decision',
        'turn_start',
        'turn_decision',
        'turn_end',
      ]),
    );
  });

  it('tells a type of a later version from a malformed event', () => {
    verifies('IP-0.1', 'IP-0.2');
    const later = damaged(sampleOf('run_start').value, { path: 'type', value: 'model_call_start' });
    expect(parseEvent(later)).toEqual({
      ok: false,
      kind: 'unknown_type',
      type: 'model_call_start',
    });
    expect(parseEvent({ type: 'toString' })).toMatchObject({ kind: 'unknown_type' });
    expect(parseEvent({})).toMatchObject({ kind: 'malformed' });
  });

  it('keeps unknown fields at any depth', () => {
    verifies('IP-0.2');
    const value = damaged(sampleOf('run_start').value, { path: 'run.policy.colour', value: 'red' });
    const parsed = parseEvent(value);
    expect(parsed.ok && parsed.event).toEqual(value);
  });

  it('reads any minor version of the pack, and no other major one', () => {
    verifies('IP-0.1');
    const read = (v: string) =>
      parseEvent(damaged(sampleOf('run_start').value, { path: 'v', value: v })).ok;
    expect(['0.1.0', '0.2.0', '0.17.3'].map(read)).toEqual([true, true, true]);
    expect(['1.0.0', '0.2', 'v0.2.0', '00.2.0'].map(read)).toEqual([false, false, false, false]);
  });

  it('takes ids as they are, case included', () => {
    verifies('IP-0.3');
    const value = damaged(sampleOf('tool_call_start').value, { path: 'call.call_id', value: 'aB' });
    const parsed = parseEvent(value);
    expect(parsed.ok && parsed.event.type === 'tool_call_start' && parsed.event.call.call_id).toBe(
      'aB',
    );
    expect(complaintsAbout('run_start', { path: 'client', value: 'CLAUDE' })).toEqual(['client']);
  });

  it.each(['v', 'ts', 'run_id', 'agent_id', 'client', 'env', 'source', 'source.host_id'])(
    'misses %s of the envelope',
    (path) => {
      verifies('IP-1.3');
      expect(complaintsAbout('run_start', { path, value: undefined })).toEqual([path]);
    },
  );

  it('does without principal and workload, and checks what is there', () => {
    verifies('IP-1.3.1');
    for (const path of ['principal', 'workload', 'workload.labels', 'workload.pod']) {
      expect(complaintsAbout('tool_call_start', { path, value: undefined })).toEqual([]);
    }
    const labels = { path: 'workload.labels', value: { team: 7 } };
    expect(complaintsAbout('tool_call_start', labels)).toEqual(['workload.labels.team']);
  });

  it.each([
    ['IP-1.4', 'run_start', ['run', 'run.started_at', 'run.mode', 'run.policy.policy_version']],
    [
      'IP-1.5',
      'tool_call_start',
      ['call.call_id', 'call.transport', 'call.args_hash', 'call.bytes_in', 'call.seq'],
    ],
    [
      'IP-1.6',
      'tool_call_decision',
      ['call.args_hash', 'decision.severity', 'decision.explain', 'decision.policy.policy_id'],
    ],
    ['IP-1.7', 'tool_call_end', ['status', 'latency_ms', 'bytes_out', 'preview.truncated']],
    ['IP-1.8', 'run_end', ['run.ended_at', 'run.status', 'run.summary.calls_throttled']],
    ['IP-3.3', 'hint_issued', ['call.call_id', 'hint', 'hint.hint_kind']],
  ] as const)('shows %s: misses what %s requires', (_id, sample, paths) => {
    verifies('IP-1.4', 'IP-1.5', 'IP-1.6', 'IP-1.7', 'IP-1.8', 'IP-3.3');
    for (const path of paths) {
      expect(complaintsAbout(sample, { path, value: undefined })).toEqual([path]);
    }
  });

  it('wants with each action what it needs', () => {
    verifies('IP-1.6');
    const missing = [
      ['throttled', 'decision.backoff_ms'],
      ['hinted', 'decision.hint'],
      ['terminated', 'decision.terminate'],
    ] as const;
    for (const [sample, path] of missing) {
      expect(complaintsAbout(sample, { path, value: undefined })).toEqual([path]);
    }
  });

  it('names the damaged place of every damaged event', () => {
    for (const { sample, ...damage } of DAMAGES) {
      if (sampleOf(sample).schema !== 'event') continue;
      expect(complaintsAbout(sample, damage).join()).toContain(damage.path);
    }
  });

  it.each([[null], [[]], ['run_start'], [7], [undefined]])('rejects %j', (value) => {
    expect(parseEvent(value)).toMatchObject({ ok: false, kind: 'malformed' });
  });
});

describe('parseEventLine', () => {
  it('reads a line with and without its newline', () => {
    verifies('IP-1.1');
    const line = JSON.stringify(sampleOf('run_end').value);
    expect(parseEventLine(line)).toEqual(parseEventLine(`${line}\n`));
    expect(parseEventLine(line).ok).toBe(true);
  });

  it('rejects half a line, two on one, and no JSON', () => {
    verifies('IP-1.1');
    const line = JSON.stringify(sampleOf('run_end').value);
    for (const text of [line.slice(0, -1), line + line, '', 'hello']) {
      expect(parseEventLine(text)).toMatchObject({ ok: false, code: 'SUB_EVENT_MALFORMED' });
    }
  });

  it('does not read a line beyond the limit', () => {
    const line = JSON.stringify(sampleOf('run_end').value).padEnd(EVENT_LINE_LENGTH_MAX);
    expect(parseEventLine(line).ok).toBe(true);
    expect(parseEventLine(`${line} `)).toMatchObject({ ok: false, code: 'SUB_EVENT_TOO_LONG' });
  });

  it('survives nesting of any depth', () => {
    const deep = `{"type":"run_start","run":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(parseEventLine(deep)).toMatchObject({ ok: false, kind: 'malformed' });
  });
});

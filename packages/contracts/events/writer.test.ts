import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import type { Decision } from '../decision.ts';
import { open } from '../shape.ts';
import { arbitraryOf } from '../testing/arbitrary.ts';
import { HASH, POLICY } from '../testing/samples.ts';
import { MAX_INSPECT_BYTES, MAX_PREVIEW_BYTES, type StartedCall } from './call.ts';
import { eventDecision } from './decision.ts';
import { PRODUCER, type Producer } from './envelope.ts';
import { EVENT_LINE_LENGTH_MAX, parseEventLine } from './parse.ts';
import { EVENT_BODIES, type EventBody, type EventType } from './types.ts';
import { eventWriter } from './writer.ts';

const TS = '2026-01-31T12:00:00.123Z';
const PRODUCED_BY: Producer = {
  run_id: 'r1',
  agent_id: 'repo-fixer',
  client: 'codex',
  env: 'dev',
  source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
  profile: 'production',
};
const REF = { call_id: 'c1', server_name: 'git', tool_name: 'log', args_hash: HASH };
const STARTED: StartedCall = {
  ...REF,
  transport: 'mcp_stdio',
  bytes_in: 10,
  preview: { truncated: false, args_preview: '{}' },
  seq: 1,
};
const ENDED: EventBody<'tool_call_end'> = {
  call: REF,
  status: 'OK',
  latency_ms: 3,
  bytes_out: 5,
  preview: { truncated: false, result_preview: 'ok' },
};
const ALLOWED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'DEFAULT_ALLOW',
  summary: 'No rule decided.',
};
const HINT = {
  hint_text: 'Do better.',
  suggested_args: null,
  retry_advice: null,
  hint_kind: 'OTHER',
} as const;

const writer = eventWriter(PRODUCED_BY);
const TYPES = Object.keys(EVENT_BODIES) as EventType[];

/** Writes what types would forbid. */
function write(type: string, body: object, ts = TS): string {
  return writer.line(type as EventType, body as never, ts);
}

function decided(decision: object): EventBody<'tool_call_decision'> {
  return { call: REF, decision: { ...eventDecision(ALLOWED, POLICY), ...decision } };
}

function anyProducer(): fc.Arbitrary<Producer> {
  return arbitraryOf(PRODUCER).map((producer) => producer as Producer);
}

/** Any body of any type, made to keep the rules that shapes do not tell. */
function anyBody(): fc.Arbitrary<{ type: EventType; body: object }> {
  const each = TYPES.map((type) =>
    arbitraryOf(open(EVENT_BODIES[type])).map((body) => ({ type, body: lawful(type, body) })),
  );
  return fc.oneof(...each);
}

function lawful(type: EventType, body: unknown): object {
  if (type === 'tool_call_start') {
    const { call } = body as EventBody<'tool_call_start'>;
    const inspected = call.bytes_in <= MAX_INSPECT_BYTES;
    return { call: inspected ? call : { ...call, preview: { truncated: true } } };
  }
  if (type !== 'tool_call_end') return body as object;
  const { error, ...end } = body as EventBody<'tool_call_end'>;
  const inspected = end.bytes_out <= MAX_INSPECT_BYTES;
  return {
    ...end,
    ...(inspected ? {} : { preview: { truncated: true, result_preview: '[TRUNCATED]' } }),
    ...(end.status === 'OK' || error === undefined ? {} : { error }),
  };
}

describe('eventWriter', () => {
  it('writes any lawful event as one line that reads back the same', () => {
    verifies('IP-1.1', 'IP-1.2', 'IP-1.3', 'IP-1.3.1');
    const property = fc.property(anyProducer(), anyBody(), (producer, { type, body }) => {
      const line = eventWriter(producer).line(type, body as never, TS);
      expect(line).not.toMatch(/[\n\r]/);
      expect(line).toBe(JSON.stringify({ v: '0.2.0', type, ts: TS, ...producer, ...body }));
      const parsed = parseEventLine(line);
      expect(JSON.stringify(parsed.ok && parsed.event)).toBe(line);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('never writes a line that a consumer would reject, whatever it is given', () => {
    const odd = fc.constantFrom(
      ...[undefined, null, '', 'nope', 'THROTTLE', Number.NaN, -1, 1.5, 2 ** 53, [], {}, true],
    );
    const steps = fc.array(fc.nat(9), { maxLength: 3 });
    const property = fc.property(anyBody(), steps, odd, ({ type, body }, path, value) => {
      const broken = damage(body, path, value);
      let line: string;
      try {
        line = write(type, broken);
      } catch {
        return;
      }
      expect(parseEventLine(line)).toMatchObject({ ok: true });
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('escapes newlines and lone surrogates, and keeps line separators', () => {
    verifies('IP-1.1');
    const text = 'a\nb\r\u2028\u2029\ud800';
    const line = writer.line('tool_call_start', { call: { ...STARTED, tool_name: text } }, TS);
    expect(line).not.toMatch(/[\n\r\ud800]/);
    const parsed = parseEventLine(line);
    expect(parsed).toMatchObject({ ok: true, event: { call: { tool_name: text } } });
  });

  it.each([
    [
      'a count that is no number',
      'tool_call_start',
      { call: { ...STARTED, bytes_in: Number.NaN } },
    ],
    ['a negative count', 'tool_call_end', { ...ENDED, latency_ms: -1 }],
    ['a broken count', 'tool_call_end', { ...ENDED, bytes_out: 0.5 }],
    ['a call before the first', 'tool_call_start', { call: { ...STARTED, seq: 0 } }],
    ['an empty id', 'tool_call_end', { ...ENDED, call: { ...REF, call_id: '' } }],
    ['a short hash', 'tool_call_end', { ...ENDED, call: { ...REF, args_hash: 'abc' } }],
    ['a hash in capitals', 'tool_call_end', { ...ENDED, result_stream_hash: 'A'.repeat(64) }],
    ['an unknown transport', 'tool_call_start', { call: { ...STARTED, transport: 'fax' } }],
    ['an unknown status', 'tool_call_end', { ...ENDED, status: 'ok' }],
    ['an error without a failure', 'tool_call_end', { ...ENDED, error: { class: 'unknown' } }],
    ['an unknown action', 'tool_call_decision', decided({ action: 'DENY' })],
    ['an unknown severity', 'tool_call_decision', decided({ severity: 'fatal' })],
    ['an empty class', 'tool_call_start', { call: { ...STARTED, risk_class: [''] } }],
    ['a field of the envelope', 'tool_call_end', { ...ENDED, run_id: 'r2' }],
    ['an unknown field', 'tool_call_end', { ...ENDED, colour: 'red' }],
    ['an unknown type', 'toString', {}],
    ['a hint without its kind', 'hint_issued', { call: REF, hint: { hint_text: 'x' } }],
  ])('refuses %s', (_, type, body) => {
    expect(() => write(type, body)).toThrow('SUB_EVENT_MALFORMED');
  });

  it.each([
    ['THROTTLE', { backoff_ms: 10 }],
    ['REJECT_WITH_HINT', { hint: HINT }],
    ['TERMINATE_RUN', { terminate: { terminate_code: 'X', terminate_message: 'y' } }],
  ])('refuses %s without what it needs', (action, needed) => {
    verifies('IP-1.6');
    expect(() => write('tool_call_decision', decided({ action }))).toThrow('SUB_EVENT_MALFORMED');
    const line = write('tool_call_decision', decided({ action, ...needed }));
    expect(parseEventLine(line).ok).toBe(true);
  });

  it.each(['2026-01-31 12:00:00Z', '2026-13-31T12:00:00Z', '2026-01-31T12:00:00', '', '"'])(
    'refuses the time %j',
    (ts) => {
      verifies('IP-1.3');
      expect(() => write('tool_call_end', ENDED, ts)).toThrow('`ts`');
    },
  );

  it('refuses a producer that is not spelled out', () => {
    verifies('IP-1.3');
    const wrong = [{ env: 'staging' }, { run_id: '' }, { token: 'secret' }, { v: '9.9.9' }];
    for (const fields of wrong) {
      const producer = { ...PRODUCED_BY, ...fields } as Producer;
      expect(() => eventWriter(producer)).toThrow('SUB_EVENT_MALFORMED');
    }
  });

  it('writes no field of a secret but its metadata', () => {
    const secret = { inject_as: 'T', secret_ref: 't', source: 'env', success: true };
    expect(parseEventLine(write('secret_injection', { secret })).ok).toBe(true);
    const leak = { ...secret, value: 'hunter2' };
    expect(() => write('secret_injection', { secret: leak })).toThrow('SUB_EVENT_MALFORMED');
  });

  it('marks what was not inspected as truncated and shows nothing of it', () => {
    verifies('IP-1.10');
    const start = (preview: object, bytes_in = MAX_INSPECT_BYTES + 1) =>
      write('tool_call_start', { call: { ...STARTED, bytes_in, preview } });
    expect(() => start({ truncated: false })).toThrow('truncated');
    expect(() => start({ truncated: true, args_preview: '{"a"' })).toThrow('preview');
    expect(start({ truncated: true })).toContain('"truncated":true');
    expect(start({ truncated: true, args_preview: '[TRUNCATED]' })).toContain('[TRUNCATED]');
    expect(start({ truncated: false, args_preview: '{}' }, MAX_INSPECT_BYTES)).toContain('{}');
  });

  it('holds previews to their size in bytes, not in characters', () => {
    verifies('IP-1.10');
    const end = (result_preview: string) =>
      write('tool_call_end', { ...ENDED, preview: { truncated: true, result_preview } });
    expect(end('a'.repeat(MAX_PREVIEW_BYTES))).toContain('aaa');
    expect(() => end('a'.repeat(MAX_PREVIEW_BYTES + 1))).toThrow('preview');
    expect(end('€'.repeat(Math.floor(MAX_PREVIEW_BYTES / 3)))).toContain('€');
    expect(() => end('€'.repeat(Math.ceil(MAX_PREVIEW_BYTES / 3)))).toThrow('preview');
    expect(end('😀'.repeat(MAX_PREVIEW_BYTES / 4))).toContain('😀');
    expect(() => end('😀'.repeat(MAX_PREVIEW_BYTES / 4 + 1))).toThrow('preview');
  });

  it('takes other limits of inspection than the defaults', () => {
    const strict = eventWriter(PRODUCED_BY, { inspectBytesMax: 4, previewBytesMax: 2 });
    expect(() => strict.line('tool_call_end', ENDED, TS)).toThrow('truncated');
    expect(() => eventWriter(PRODUCED_BY, { previewBytesMax: 10_000_000 })).toThrow('previewBytes');
  });

  it('leaves suggested arguments out when the line would be too long', () => {
    const suggested_args = { text: 'x'.repeat(EVENT_LINE_LENGTH_MAX) };
    const hint = { ...HINT, suggested_args };
    const line = write('hint_issued', { call: { call_id: 'c1' }, hint });
    expect(line.length).toBeLessThan(1_000);
    expect(parseEventLine(line)).toMatchObject({ event: { hint: { ...HINT } } });
  });
});

describe('eventDecision', () => {
  it('nests reason and policy as contract A has them', () => {
    verifies('IP-1.6');
    const would = { action: 'BLOCK', rule_id: 'r', reason_code: 'X', summary: 'y' } as const;
    expect(eventDecision({ ...ALLOWED, would }, POLICY)).toEqual({
      action: 'ALLOW',
      rule_id: null,
      severity: 'info',
      would,
      policy: POLICY,
      explain: { summary: 'No rule decided.', reason_code: 'DEFAULT_ALLOW' },
    });
  });
});

/** Puts a value at a place that the steps choose, or removes what is there. */
function damage(value: object, steps: readonly number[], odd: unknown): object {
  const keys = Object.keys(value);
  const key = keys[(steps[0] ?? 0) % Math.max(keys.length, 1)];
  if (key === undefined) return value;
  const inner = (value as Record<string, unknown>)[key];
  const deeper = steps.length > 1 && typeof inner === 'object' && inner !== null;
  return { ...value, [key]: deeper ? damage(inner, steps.slice(1), odd) : odd };
}

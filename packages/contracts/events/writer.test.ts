import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { runs } from '../../../test/runs.ts';
import type { Decision } from '../decision/decision.ts';
import { open, STRING_LENGTH_MAX } from '../shape/shape.ts';
import { arbitraryOf } from '../testing/arbitrary.ts';
import { HASH, POLICY } from '../testing/samples.ts';
import { eventDecision, MAX_INSPECT_BYTES, MAX_PREVIEW_BYTES } from './call.ts';
import { PRODUCER, type Producer } from './envelope.ts';
import { EVENT_LINE_LENGTH_MAX, parseEventLine } from './parse.ts';
import type { StartedCall } from './tool-call.ts';
import { EVENT_BODIES, type EventBody, type EventType } from './types.ts';
import { eventWriter, MalformedEvent } from './writer.ts';

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

const CONTENT = { action: 'redact', findings: ['secret:aws-access-key', 'personal:iban'] } as const;

const FAILURE = { class: 'timeout', message: 'Too late.' };

/** Objects that read like the given one and are written otherwise. */
const DISGUISES: { readonly [name: string]: (part: object) => object } = {
  inherited: (part) => Object.create(part) as object,
  instance: (part) => Object.assign(Object.create({}) as object, part),
  'getters of a class': (part) => Object.create(accessors(part, (value) => value)) as object,
  'own toJSON': (part) => ({ ...part, toJSON: () => undefined }),
  'inherited toJSON': (part) => Object.assign(Object.create({ toJSON: () => 7 }) as object, part),
  hidden: (part) => {
    const descriptors = Object.getOwnPropertyDescriptors(part);
    for (const each of Object.values(descriptors)) Object.assign(each, { enumerable: false });
    return Object.defineProperties({}, descriptors);
  },
  changing: (part) => accessors(part, (value, reads) => (reads === 0 ? value : undefined)),
  'no prototype': (part) => Object.assign(Object.create(null) as object, part),
};

/** The same fields as getters, told how often each was read before. */
function accessors(part: object, read: (value: unknown, reads: number) => unknown): object {
  const getters = Object.entries(part).map(([name, value]) => {
    let reads = 0;
    return [name, { enumerable: true, get: () => read(value, reads++) }] as const;
  });
  return Object.defineProperties({}, Object.fromEntries(getters));
}

const writer = eventWriter(PRODUCED_BY);
const TYPES = Object.keys(EVENT_BODIES) as EventType[];

/** Writes what types would forbid. */
function write(type: string, body: object, ts = TS): string {
  return writer.line(type as EventType, body as never, ts);
}

/** What became of a body: written and read back, refused, or one of what must never happen. */
function outcome(type: EventType, body: object): string {
  try {
    const parsed = parseEventLine(write(type, body));
    return parsed.ok ? 'read' : `written, but ${parsed.kind}`;
  } catch (error) {
    return error instanceof MalformedEvent ? 'refused' : String(error);
  }
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
  if (type === 'tool_call_start' || type === 'turn_start') {
    const { call } = body as EventBody<'tool_call_start'>;
    const inspected = call.bytes_in <= MAX_INSPECT_BYTES;
    return { call: inspected ? call : { ...call, preview: { truncated: true } } };
  }
  if (type !== 'tool_call_end' && type !== 'turn_end') return body as object;
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
    fc.assert(property, runs(1_000));
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
    fc.assert(property, runs(2_000));
  });

  it('never writes a line that a consumer would reject, however the parts are made', () => {
    const steps = fc.array(fc.nat(9), { maxLength: 3 });
    const disguise = fc.constantFrom(...Object.values(DISGUISES));
    const property = fc.property(anyBody(), steps, disguise, ({ type, body }, path, disguised) => {
      const odd = path.length === 0 ? disguised(body) : disguiseAt(body, path, disguised);
      expect(outcome(type, odd)).toMatch(/^(?:read|refused)$/);
    });
    fc.assert(property, runs(3_000));
  });

  it.each(['inherited', 'instance', 'getters of a class', 'own toJSON', 'inherited toJSON'])(
    'refuses a part that is no plain object: %s',
    (name) => {
      const disguised = DISGUISES[name] ?? ((part) => part);
      const decision = eventDecision(ALLOWED, POLICY);
      const parts: readonly [EventType, object][] = [
        ['tool_call_start', disguised({ call: STARTED })],
        ['tool_call_start', { call: disguised(STARTED) }],
        ['tool_call_start', { call: { ...STARTED, preview: disguised(STARTED.preview) } }],
        ['tool_call_decision', { call: disguised(REF), decision }],
        ['tool_call_decision', { call: REF, decision: disguised(decision) }],
        ['tool_call_decision', decided({ explain: disguised(decision.explain) })],
        ['tool_call_decision', decided({ policy: disguised(POLICY) })],
        ['tool_call_decision', decided({ hint: disguised(HINT) })],
        ['tool_call_decision', { ...decided({}), call: { ...REF, content: disguised(CONTENT) } }],
        ['tool_call_end', { ...ENDED, call: { ...REF, content: disguised(CONTENT) } }],
        ['tool_call_end', { ...ENDED, call: disguised(REF) }],
        ['tool_call_end', { ...ENDED, preview: disguised(ENDED.preview) }],
        ['tool_call_end', { ...ENDED, status: 'ERROR', error: disguised(FAILURE) }],
        ['hint_issued', { call: disguised({ call_id: 'c1' }), hint: HINT }],
        ['policy_loaded', disguised({ policy: POLICY, mode: 'control' })],
      ];
      for (const [type, body] of parts) {
        expect(() => write(type, body)).toThrow('SUB_EVENT_MALFORMED');
      }
    },
  );

  it('writes what it has checked when a field reads differently each time', () => {
    const changing = DISGUISES['changing'] ?? ((part) => part);
    const bodies: readonly [EventType, object][] = [
      ['tool_call_start', { call: changing(STARTED) }],
      ['tool_call_decision', { call: REF, decision: changing(eventDecision(ALLOWED, POLICY)) }],
      ['tool_call_end', changing(ENDED)],
    ];
    for (const [type, body] of bodies) {
      expect(parseEventLine(write(type, body))).toMatchObject({ ok: true });
    }
    const list = Object.assign(['a'], { toJSON: () => 7 });
    const line = write('tool_call_start', { call: { ...STARTED, tags: list } });
    expect(parseEventLine(line)).toMatchObject({ event: { call: { tags: ['a'] } } });
  });

  it('writes what was found in content the same way, whichever way the event goes', () => {
    const decision = Object.freeze({
      ...eventDecision(ALLOWED, POLICY),
      explain: Object.freeze({ summary: 'No rule decided.', reason_code: 'DEFAULT_ALLOW' }),
      policy: Object.freeze(POLICY),
    });
    const calls = [
      { ...REF, content: CONTENT },
      { ...REF, risk_class: ['write_like'], content: CONTENT },
      { ...REF, content: { action: 'tag', findings: [] } },
      // Out of order: the long way.
      { content: CONTENT, ...REF },
    ];
    for (const call of calls) {
      for (const [type, body] of [
        ['tool_call_decision', { call, decision }],
        ['tool_call_decision', { call, decision }],
        ['tool_call_end', { ...ENDED, call }],
      ] as const) {
        const line = write(type, body);
        expect(line).toBe(
          JSON.stringify({
            v: '0.2.0',
            type,
            ts: TS,
            ...PRODUCED_BY,
            ...JSON.parse(JSON.stringify(body)),
          }),
        );
      }
    }
  });

  it.each([
    [{ action: 'allow', findings: [] }],
    [{ action: 'tag', findings: [''] }],
    [{ action: 'tag', findings: ['a'.repeat(201)] }],
    [{ action: 'tag', findings: Array.from({ length: 101 }, () => 'a:b') }],
    [{ action: 'tag' }],
    ['redacted'],
  ])('refuses what is no outcome of content: %j', (content) => {
    const call = { ...REF, content };
    expect(() => write('tool_call_decision', { ...decided({}), call })).toThrow('call.content');
    expect(() => write('tool_call_end', { ...ENDED, call })).toThrow('call.content');
  });

  it('counts the characters of names as parser and schema do', () => {
    const start = (tool_name: string, tag = 'a') =>
      write('tool_call_start', { call: { ...STARTED, tool_name, tags: [tag] } });
    const longest = '😀'.repeat(STRING_LENGTH_MAX);
    expect(parseEventLine(start(longest)).ok).toBe(true);
    expect(() => start(`${longest}a`)).toThrow('call.tool_name');
    expect(() => start('')).toThrow('call.tool_name');
    expect(parseEventLine(start('a', '😀'.repeat(1_024))).ok).toBe(true);
    expect(() => start('a', '😀'.repeat(1_025))).toThrow('call.tags');
  });

  it.each([
    ['too many parts', { list: Array.from({ length: 100_000 }, () => 0) }],
    ['a key that is too long', { ['k'.repeat(1_025)]: 1 }],
    ['too much depth', { deep: JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) as unknown }],
  ])('leaves out suggested arguments with %s, which the agent chose', (_, suggested_args) => {
    const hint = { ...HINT, suggested_args };
    const issued = write('hint_issued', { call: { call_id: 'c1' }, hint });
    expect(parseEventLine(issued)).toMatchObject({ event: { hint: HINT } });
    const line = write('tool_call_decision', decided({ action: 'REJECT_WITH_HINT', hint }));
    expect(parseEventLine(line)).toMatchObject({ event: { decision: { hint: HINT } } });
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

  it('refuses a producer whose fields would not be written', () => {
    for (const name of ['inherited', 'own toJSON', 'hidden']) {
      const producer = DISGUISES[name]?.(PRODUCED_BY) as Producer;
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

  it('writes the same decision again and again as it wrote it first', () => {
    const decision = eventDecision(ALLOWED, POLICY);
    const expected = (call_id: string) =>
      JSON.stringify({
        ...{ v: '0.2.0', type: 'tool_call_decision', ts: TS, ...PRODUCED_BY },
        ...{ call: { ...REF, call_id, risk_class: ['write_like'] }, decision },
        counter_scope: 'run',
      });
    for (const call_id of ['c1', 'c2', 'c"3']) {
      const call = { ...REF, call_id, risk_class: ['write_like'] };
      const body = { call, decision, counter_scope: 'run' } as const;
      expect(writer.line('tool_call_decision', body, TS)).toBe(expected(call_id));
    }
    const body = { call: REF, decision, counter_scope: 'nobody' };
    expect(() => write('tool_call_decision', body)).toThrow('counter_scope');
  });

  it('writes a decision that was changed as it is now', () => {
    const decision = { ...eventDecision(ALLOWED, POLICY) };
    const first = writer.line('tool_call_decision', { call: REF, decision }, TS);
    decision.severity = 'critical';
    const second = writer.line('tool_call_decision', { call: REF, decision }, TS);
    expect(first).toContain('"severity":"info"');
    expect(second).toContain('"severity":"critical"');
  });

  it('refuses a wrong time also right behind a good one', () => {
    writer.line('tool_call_end', ENDED, TS);
    expect(() => writer.line('tool_call_end', ENDED, 'now')).toThrow('`ts`');
    expect(parseEventLine(writer.line('tool_call_end', ENDED, TS)).ok).toBe(true);
  });

  it('takes the count of bytes of whoever has a faster one', () => {
    const counted: string[] = [];
    const utf8Bytes = (text: string) => {
      counted.push(text);
      return Buffer.byteLength(text);
    };
    const native = eventWriter(PRODUCED_BY, { utf8Bytes });
    const end = (result_preview: string) =>
      native.line('tool_call_end', { ...ENDED, preview: { truncated: true, result_preview } }, TS);
    const fits = 'a'.repeat(MAX_PREVIEW_BYTES);
    expect(end(fits)).toBe(
      write('tool_call_end', { ...ENDED, preview: { truncated: true, result_preview: fits } }),
    );
    expect(counted).toEqual([fits]);
    expect(() => end('€'.repeat(MAX_PREVIEW_BYTES / 2))).toThrow('preview');
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

/** The body with one of its parts, which the steps choose, disguised. */
function disguiseAt(
  value: object,
  steps: readonly number[],
  disguised: (part: object) => object,
): object {
  const parts = Object.entries(value).filter(([, inner]) => isPart(inner));
  const [key, inner] = parts[(steps[0] ?? 0) % Math.max(parts.length, 1)] ?? [];
  if (key === undefined || !isPart(inner)) return disguised(value);
  const odd = steps.length > 1 ? disguiseAt(inner, steps.slice(1), disguised) : disguised(inner);
  return { ...value, [key]: odd };
}

function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

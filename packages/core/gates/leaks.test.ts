import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  answer,
  arrived,
  callOf,
  OBSERVED,
  optionsOf,
  request,
  result,
  textResult,
} from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import { createLeakFinder, growingLeakFinder } from './leak-finder.ts';

const VALUE = 'tk-9fX2qLm8Zr4Wv7Bd1Kp6';
const OTHER = 'Ju5Gt3Hw8Ny2Qc9Xs4Vb';
const LEAKS = createLeakFinder([
  { name: 'mail-token', value: VALUE },
  { name: 'other', value: OTHER },
]);
const ENCODINGS: readonly (readonly [string, (value: string) => string])[] = [
  ['raw', (value) => value],
  ['base64', (value) => Buffer.from(value).toString('base64')],
  ['base64url', (value) => Buffer.from(value).toString('base64url')],
  ['hex', (value) => Buffer.from(value).toString('hex')],
  ['reversed', (value) => [...value].toReversed().join('')],
  ['url', (value) => [...value].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')],
  ['spaced', (value) => [...value].join(' ')],
];

// Nothing is enforced: what was injected is kept in any case.
const guard = createGuard(optionsOf({ leaks: LEAKS, enforces: OBSERVED }));

describe('a secret of the server', () => {
  it.each(ENCODINGS)('is not sent, %s, in a value or in a key', (_name, encode) => {
    verifies('ST-5.2');
    const text = encode(VALUE);
    for (const args of [{ a: { b: [`x ${text} y`] } }, { [text]: 1 }]) {
      const verdict = guard.content(callOf({ tool: 'post', args }), 0);
      expect(verdict).toMatchObject({
        kind: 'stop',
        decision: { action: 'BLOCK', rule_id: 'gate:leak', reason_code: 'LEAK_BLOCKED' },
        note: { action: 'block', findings: ['leak:mail-token'] },
      });
      expect(JSON.stringify(verdict)).not.toContain(text);
    }
  });

  it('is not sent in two halves', () => {
    const args = { a: VALUE.slice(0, 11), b: VALUE.slice(11) };
    expect(guard.content(callOf({ tool: 'post', args }), 0).kind).toBe('stop');
  });

  it.each(ENCODINGS)('is not sent, %s, beside the arguments of a call', (_name, encode) => {
    const text = encode(VALUE);
    const calls = [
      callOf({ tool: 'post', args: {}, beside: { _meta: { a: text } } }),
      callOf({ tool: 'post', args: {}, beside: { inputResponses: { k: { content: [text] } } } }),
      callOf({ tool: 'post', args: {}, beside: { task: { [text]: 1 } } }),
      callOf({ tool: 'post', args: {}, id: JSON.stringify(text) }),
    ];
    for (const call of calls) {
      const verdict = guard.content(call, 0);
      expect(verdict).toMatchObject({ kind: 'stop', decision: { reason_code: 'LEAK_BLOCKED' } });
      expect(JSON.stringify(verdict)).not.toContain(text);
    }
  });

  it.each(ENCODINGS)('does not pass, %s, around any message', (_name, encode) => {
    const text = encode(VALUE);
    const plain = { written: '1 ping', method: 'ping', rest: undefined };
    const envelopes = [
      { ...plain, written: `${JSON.stringify(text)} ping` },
      { ...plain, written: `1 x/${text}` },
      { ...plain, rest: { message: { a: [text] } } },
      { ...plain, rest: { message: { [text]: 1 } } },
    ];
    for (const way of ['in', 'out'] as const) {
      expect(guard.around?.(way, plain, 0)).toEqual({ kind: 'same' });
      for (const envelope of envelopes) {
        const passage = guard.around?.(way, envelope, 0);
        expect(passage).toMatchObject({ kind: 'refused', reason_code: 'LEAK_BLOCKED' });
        expect(JSON.stringify(passage)).not.toContain(text);
      }
    }
  });

  it('is not sent in any other message', () => {
    const asked = request('prompts/get', { name: 'p', arguments: { a: VALUE } });
    expect(guard.passing('out', asked, 0)).toMatchObject({
      kind: 'refused',
      reason_code: 'LEAK_BLOCKED',
    });
    const replied = answer('elicitation/create', { content: { a: VALUE } });
    expect(guard.passing('out', replied, 0).kind).toBe('refused');
  });

  it.each(ENCODINGS)('does not arrive, %s', (_name, encode) => {
    const text = encode(VALUE);
    const message = result('read', {
      content: [{ type: 'text', text: `before ${text} after` }],
      structuredContent: { deep: [text] },
    });
    const passage = guard.passing('in', message, 0);
    expect(passage).toMatchObject({
      kind: 'changed',
      note: { action: 'redact', findings: ['leak:mail-token'] },
    });
    const shown = JSON.stringify(arrived(message, passage));
    expect(shown).not.toContain(text);
    expect(shown).toMatch(/before .*REDACTED.* after/);
  });

  it('does not arrive by errors, notifications, lists, instructions or requests', () => {
    const values = [
      answer('tools/call', { code: 1, message: VALUE }, { isError: true }),
      answer('tools/list', { tools: [{ name: 'a', description: VALUE }] }),
      answer('initialize', { instructions: VALUE }),
      answer('anything/else', { text: VALUE }),
      request('sampling/createMessage', { systemPrompt: VALUE }),
      { ...request('notifications/progress', { message: VALUE }), kind: 'notification' } as const,
    ];
    for (const message of values) {
      expect(guard.wants('in', message.kind, message.method)).toBe(true);
      const passage = guard.passing('in', message, 0);
      expect(passage.kind).toBe('changed');
      expect(JSON.stringify(arrived(message, passage))).not.toContain(VALUE);
    }
  });

  it('holds an answer back where nothing can be put in its place', () => {
    const message = result('read', { structuredContent: { [VALUE]: 1 } });
    expect(guard.passing('in', message, 0)).toMatchObject({
      kind: 'refused',
      reason_code: 'LEAK_BLOCKED',
    });
    const numbers = createLeakFinder([{ name: 'pin', value: '8675309123' }]);
    const other = createGuard(optionsOf({ leaks: numbers }));
    expect(other.passing('in', result('read', { n: 8_675_309_123 }), 0).kind).toBe('refused');
  });

  it('neither is sent nor arrives in letters of other forms', () => {
    const wide = [...VALUE].map((char) => String.fromCodePoint(char.charCodeAt(0) + 0xfee0));
    const bold = VALUE.replace(/[a-z]/g, (char) =>
      String.fromCodePoint(0x1d41a + char.charCodeAt(0) - 97),
    );
    const squared = VALUE.replace(/[A-Z]/g, (char) =>
      String.fromCodePoint(0x1f130 + char.charCodeAt(0) - 65),
    );
    const segmented = VALUE.replace(/\d/g, (char) => String.fromCodePoint(0x1fbf0 + Number(char)));
    for (const text of [wide.join(''), bold, squared, segmented]) {
      const call = callOf({ tool: 'post', args: { a: `x${text}y` } });
      expect(guard.content(call, 0)).toMatchObject({ decision: { reason_code: 'LEAK_BLOCKED' } });
      const passage = guard.passing('in', result('read', textResult(text)), 0);
      expect(passage.kind).not.toBe('same');
      expect(JSON.stringify(passage)).not.toContain(text);
    }
  });

  it('holds back a message that cannot be inspected', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(guard.content(callOf({ tool: 'post' }), 0)).toMatchObject({
      kind: 'stop',
      decision: { reason_code: 'ARGS_NOT_INSPECTED' },
    });
    expect(guard.passing('in', result('read', deep), 0).kind).toBe('refused');
    expect(guard.unseen('in', 'answer', 'tools/call').kind).toBe('refused');
    expect(guard.unseen('in', 'answer', '').kind).toBe('refused');
  });

  it('leaves other content alone', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        expect(guard.passing('in', result('read', value), 0)).toEqual({ kind: 'same' });
      }),
      { numRuns: 200 },
    );
    const words = textResult('The quick brown fox jumps over the lazy dog. '.repeat(50));
    expect(guard.passing('in', result('read', words), 0)).toEqual({ kind: 'same' });
  });

  it('is named, and all of them that are there', () => {
    const call = callOf({ tool: 'post', args: { a: VALUE, b: OTHER } });
    expect(guard.content(call, 0).note?.findings).toEqual(['leak:mail-token', 'leak:other']);
  });

  it('is not looked for when there is none', () => {
    expect(createLeakFinder([])).toBeUndefined();
    expect(createLeakFinder([{ name: 'a', value: 'abc' }])).toBeUndefined();
  });

  it('is found once it is learned', () => {
    let learned: readonly { readonly name: string; readonly value: string }[] = [];
    const finder = growingLeakFinder([{ name: 'other', value: OTHER }], () => learned);
    const text = `a ${VALUE} b ${OTHER}`;
    expect(finder.redact(text)).toBe(`a ${VALUE} b [REDACTED:injected-secret]`);
    learned = [{ name: 'token', value: VALUE }];
    expect(finder.namesIn([text])).toEqual(['other', 'token']);
    expect(finder.redact(text)).toBe('a [REDACTED:injected-secret] b [REDACTED:injected-secret]');
  });
});

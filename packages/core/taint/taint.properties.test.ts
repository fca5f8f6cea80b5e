import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkCall } from './check.ts';
import { compileTaint } from './compile-policy.ts';
import { newTaint } from './memory.ts';
import { observe } from './observe.ts';
import { decodePunycode, hostOf } from './tokens/host.ts';

const PAGE = { server: 'web', tool: 'fetch', callId: 'c1', trust: 'untrusted' } as const;
const POLICY = compileTaint();
const NAME = fc.stringMatching(/^[a-z][a-z0-9]{2,12}$/);
const HOST = fc
  .tuple(NAME, fc.constantFrom('example', 'com', 'de', 'io'))
  .map((parts) => parts.join('.'));

function verdict(content: unknown, args: unknown) {
  const state = observe(newTaint(), { ...PAGE, content });
  return checkCall(state, { server: 's', tool: 't', args }, POLICY).verdict;
}

describe('taint', () => {
  it('answers whatever the content and the arguments are, and always the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (content, args) => {
        expect(verdict(content, args)).toBe(verdict(content, args));
      }),
      { numRuns: 100 },
    );
  });

  it('answers for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        // The sinks of every kind.
        const args = { to: text, url: text, path: text, command: text };
        expect(['clean', 'tainted']).toContain(verdict(text, args));
      }),
      { numRuns: 60 },
    );
  });

  it('finds an address however it is surrounded and spelt', () => {
    const around = fc.constantFrom(
      ['', ''],
      ['(', ')'],
      ['"', '",'],
      ['<', '>'],
      ['mailto:', '.'],
      ['**', '**'],
    );
    const spelt = fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => text.replace('@', '%40'),
      (text: string) => text.replaceAll('.', '\u3002'),
      (text: string) => [...text].join('\u200B'),
      (text: string) => `Someone <${text}>`,
    );
    fc.assert(
      fc.property(NAME, HOST, around, spelt, (name, host, [open, close], spell) => {
        const address = `${name}@${host}`;
        expect(verdict(`write to ${open}${address}${close}`, { to: spell(address) })).toBe(
          'tainted',
        );
      }),
      { numRuns: 200 },
    );
  });

  it('is clean for an address of another host', () => {
    fc.assert(
      fc.property(NAME, HOST, HOST, (name, host, other) => {
        fc.pre(host !== other);
        expect(verdict(`write to ${name}@${host}`, { to: `someone.else@${other}` })).toBe('clean');
      }),
    );
  });

  it('leaves a state as it was when something is observed on top of it', () => {
    fc.assert(
      fc.property(fc.array(HOST, { minLength: 2, maxLength: 20 }), (hosts) => {
        let state = newTaint();
        const sizes: number[] = [];
        const states = hosts.map((host, index) => {
          state = observe(state, { ...PAGE, callId: String(index), content: host });
          sizes.push(state.untrustedCount);
          return state;
        });
        expect(states.map(({ untrustedCount }) => untrustedCount)).toEqual(sizes);
        const held = states.map(({ layers }) => layers.reduce((sum, { size }) => sum + size, 0));
        expect(held).toEqual(sizes);
      }),
    );
  });
});

describe('a host', () => {
  it.each([
    ['xn--bcher-kva.example', 'bücher.example'],
    ['XN--BCHER-KVA.example', 'bücher.example'],
    ['xn--80ak6aa92e.com', 'аррӏе.com'],
    ['user:pass@h.example:80', 'h.example'],
    ['0x7f000001', '127.0.0.1'],
    ['0177.0.0.01', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['[::1]:80', '[::1]'],
    ['h.example.', 'h.example'],
    ['a b', undefined],
    ['', undefined],
    ['256.1.1.1', '256.1.1.1'],
  ])('%s is %s', (written, host) => {
    expect(hostOf(written)).toBe(host);
  });

  it('is read from punycode without ever failing', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9-]{0,40}$/), (label) => {
        const plain = decodePunycode(label);
        expect(plain === undefined || plain.length <= 80).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('hostile text', () => {
  const long = 300_000;
  it.each([
    ['at signs', '@'.repeat(long)],
    ['an address without an end', `a@${'b.'.repeat(long / 2)}`],
    ['dots', '.'.repeat(long)],
    ['slashes', '/'.repeat(long)],
    ['percent signs', '%25'.repeat(long / 3)],
    ['digits', '1'.repeat(long)],
    ['digits and blanks', '1 '.repeat(long / 2)],
    ['brackets', '[ '.repeat(long / 2)],
    ['schemes', 'a://'.repeat(long / 4)],
    ['letters', 'gb82'.repeat(long / 4)],
    ['commands', 'curl '.repeat(long / 5)],
    ['joiners', '\u200D'.repeat(long)],
  ])('is read to its end: %s', (_name, text) => {
    const state = observe(newTaint(), { ...PAGE, content: text });
    const args = { to: text, url: text, path: text, command: text };
    expect(checkCall(state, { server: 's', tool: 't', args }, POLICY)).toBeDefined();
  });
});

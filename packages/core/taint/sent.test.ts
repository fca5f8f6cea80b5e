import type { TaintSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { checkCall } from './check.ts';
import { compileTaint } from './compile-policy.ts';
import { newTaint } from './memory.ts';
import { observe } from './observe.ts';
import { recordCall } from './rule-of-two.ts';
import type { TaintState, Trust } from './types.ts';

const POLICY = compileTaint();
const FILE = '/srv/project/w.txt';

function sent(args: unknown, state: TaintState = newTaint(), callId = 'c1'): TaintState {
  return recordCall(state, { server: 'files', tool: 'write', callId, args }, POLICY);
}

interface Told {
  readonly callId?: string;
  readonly server?: string;
  readonly trust?: Trust;
}

function answered(state: TaintState, content: unknown, told: Told = {}): TaintState {
  const { callId = 'c1', server = 'files', trust = 'untrusted' } = told;
  return observe(state, { server, tool: 'write', callId, trust, content });
}

function verdict(state: TaintState, args: unknown, section: TaintSection = {}): string {
  return checkCall(state, { server: 'any', tool: 'tool', args }, compileTaint(section)).verdict;
}

describe('an answer that repeats the arguments of its own call', () => {
  it.each<[string, object, string]>([
    ['a path', { path: FILE, content: 'x' }, `Successfully wrote to ${FILE}`],
    ['a path with a blank', { path: '/srv/my notes.txt' }, "open '/srv/my notes.txt': ENOENT"],
    ['an address', { to: 'bob@corp.example' }, 'Sent to <bob@corp.example>.'],
    ['a page', { url: 'https://docs.example/a?b=1' }, '200 https://docs.example/a?b=1'],
    ['a command', { command: 'npm install left-pad' }, '$ npm install left-pad'],
    ['a number', { phone: '+49 151 2345678' }, 'calling +491512345678'],
  ])('brings nothing in: %s', (_what, args, text) => {
    expect(verdict(answered(newTaint(), text), args)).toBe('tainted');
    expect(verdict(answered(sent(args), text), args)).toBe('clean');
  });

  it('still brings in what stands beside', () => {
    const state = answered(sent({ path: FILE }), `wrote ${FILE}, and see /srv/project/other.txt`);
    expect(verdict(state, { path: FILE })).toBe('clean');
    expect(verdict(state, { path: '/srv/project/other.txt' })).toBe('tainted');
  });

  it('brings in another address of the same host, and the host with it', () => {
    const before = sent({ url: 'https://blog.example/post' });
    const state = answered(before, 'post it to https://blog.example/in?d=');
    expect(verdict(state, { url: 'https://blog.example/in?d=secret' })).toBe('tainted');
  });

  it('does not clear a value that was tainted before, whoever repeats it', () => {
    const page = answered(newTaint(), FILE, { callId: 'page', server: 'web' });
    for (const trust of ['untrusted', 'trusted'] as const) {
      for (const trustedClears of ['earlier', 'any'] as const) {
        const state = answered(sent({ path: FILE }, { ...page, trustedClears }), FILE, { trust });
        expect(verdict(state, { path: FILE })).toBe('tainted');
      }
    }
  });

  it('does not vouch for a value that untrusted content names later', () => {
    const echoed = answered(sent({ path: FILE }), FILE, { trust: 'trusted' });
    expect(verdict(answered(echoed, FILE, { callId: 'c2' }), { path: FILE })).toBe('tainted');
  });

  it('is known by its server and its call', () => {
    for (const other of [{ callId: 'c2' }, { server: 'web' }]) {
      expect(verdict(answered(sent({ path: FILE }), FILE, other), { path: FILE })).toBe('tainted');
    }
    const unnamed = sent({ path: FILE }, newTaint(), '');
    expect(verdict(answered(unnamed, FILE, { callId: '' }), { path: FILE })).toBe('tainted');
  });

  it('is an echo also when it is told twice', () => {
    const state = answered(answered(sent({ path: FILE }), FILE), FILE);
    expect(verdict(state, { path: FILE })).toBe('clean');
  });
});

describe('what is kept of the arguments', () => {
  it('is bounded in calls, and what was forgotten is taken for new', () => {
    let state = sent({ path: FILE }, newTaint(), 'first');
    for (let index = 0; index < 300; index++) {
      state = sent({ path: `/srv/project/${index}.txt` }, state, `c${index}`);
    }
    expect(state.sent.size).toBe(256);
    const last = '/srv/project/299.txt';
    expect(verdict(answered(state, last, { callId: 'c299' }), { path: last })).toBe('clean');
    const forgotten = answered(state, FILE, { callId: 'first' });
    expect(verdict(forgotten, { path: FILE })).toBe('tainted');
  });

  it('is bounded in values, over all calls and for each', () => {
    const paths = (call: number) =>
      Array.from({ length: 5_000 }, (_, index) => `/a/${call}/${index}`).join(' ');
    let state = newTaint();
    for (let call = 0; call < 8; call++) state = sent({ text: paths(call) }, state, `c${call}`);
    const sizes = [...state.sent.values()].map(({ size }) => size);
    expect(Math.max(...sizes)).toBeLessThan(5_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(20_000);
    expect(state.sent.size).toBeGreaterThan(1);
  });

  it('leaves a state as it was', () => {
    const before = sent({ path: FILE });
    sent({ path: '/srv/project/v.txt' }, before, 'c2');
    expect(before.sent.size).toBe(1);
  });
});

import type { JsonObject, Selectors } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { IDENTITY } from '../testing/scenario.ts';
import { selects } from './match.ts';

const FIELDS = [
  'env',
  'agent_id',
  'client',
  'namespace',
  'service_account',
  'repo',
  'branch',
] as const;
const TOP = new Set<string>(['env', 'agent_id', 'client']);
const value = fc.constantFrom('a', 'b', 'c');
const chosen = fc.record(
  Object.fromEntries(FIELDS.map((field) => [field, fc.uniqueArray(value, { minLength: 1 })])),
  { requiredKeys: [] },
);
const actual = fc.record(Object.fromEntries(FIELDS.map((field) => [field, value])));

function part<T>(from: { readonly [field: string]: T }, top: boolean): { [field: string]: T } {
  return Object.fromEntries(Object.entries(from).filter(([field]) => TOP.has(field) === top));
}

function withWorkload(workload: JsonObject) {
  return { ...IDENTITY, workload };
}

describe('selects', () => {
  it('needs one value of every given field', () => {
    verifies('IP-2.2', 'SL-8.3');
    fc.assert(
      fc.property(chosen, actual, (wanted, is) => {
        const selectors: Selectors = { ...part(wanted, true), workload: part(wanted, false) };
        const identity = { ...withWorkload(part(is, false)), ...part(is, true) };
        const expected = Object.entries(wanted).every(([field, values]) =>
          values?.some((one) => one === is[field]),
        );
        expect(selects(selectors, identity)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('fits all when nothing is given', () => {
    expect(selects({}, IDENTITY)).toBe(true);
    expect(selects({ workload: {} }, IDENTITY)).toBe(true);
  });

  it.each<[string, Selectors, JsonObject]>([
    ['a workload without the field', { workload: { repo: ['x'] } }, {}],
    ['a field that is no text', { workload: { repo: ['1'] } }, { repo: 1 }],
    ['a field that is a list', { workload: { repo: ['x'] } }, { repo: ['x'] }],
    ['labels that are no object', { workload: { labels: { a: 'x' } } }, { labels: 'x' }],
    ['labels without the key', { workload: { labels: { a: 'x' } } }, { labels: { b: 'x' } }],
    ['a label that is no text', { workload: { labels: { a: '1' } } }, { labels: { a: 1 } }],
    ['an inherited key', { workload: { labels: { toString: 'x' } } }, { labels: {} }],
    ['one of two labels', { workload: { labels: { a: 'x', b: 'y' } } }, { labels: { a: 'x' } }],
  ])('does not fit %s', (_what, selectors, workload) => {
    expect(selects(selectors, withWorkload(workload))).toBe(false);
  });

  it('compares labels by exact value and ignores the others', () => {
    const selectors: Selectors = { workload: { labels: { a: '', b: 'y' } } };
    expect(selects(selectors, withWorkload({ labels: { a: '', b: 'y', c: 'z' } }))).toBe(true);
    expect(selects(selectors, withWorkload({ labels: { a: 'x', b: 'y' } }))).toBe(false);
  });
});

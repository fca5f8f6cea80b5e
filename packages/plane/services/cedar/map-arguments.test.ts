import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapArgs } from './map-arguments.ts';
import { openCedar, opened, request } from './testing/requests.ts';
import type { Cedar } from './types.ts';

const NUMBER = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(
    0,
    -0,
    0.1,
    1e-7,
    1e21,
    2 ** 53,
    -(2 ** 53),
    922_337_203_685_477.5,
    1.00001,
    Number.NaN,
  ),
);
const KEY = fc.oneof(
  fc.constantFrom('path', 'n', '__proto__', '__entity', '__extn', 'constructor', 'a.b', 'a[0]', ''),
  fc.string({ maxLength: 6 }),
);
const { tree: VALUE } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    NUMBER,
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(KEY, tie('tree'), { maxKeys: 4 }),
  ),
}));
const ARGS = fc.dictionary(KEY, VALUE, { maxKeys: 5 });

describe('arguments as Cedar has them', () => {
  it('never fail to be mapped or refused', () => {
    fc.assert(
      fc.property(fc.oneof(ARGS, fc.anything()), (args) => {
        const mapped = mapArgs(args, undefined);
        expect(mapped.ok || mapped.why !== '').toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('are the same only when the arguments are', () => {
    fc.assert(
      fc.property(ARGS, ARGS, (one, other) => {
        const [a, b] = [mapArgs(one, undefined), mapArgs(other, undefined)];
        fc.pre(a.ok && b.ok);
        // Either they differ, or there was nothing to tell apart.
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(same && JSON.stringify(one) !== JSON.stringify(other)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[unknown, unknown]>([
    [{ a: 1 }, { a: '1' }],
    [{ a: 1.5 }, { a: '1.5' }],
    [{ a: 1e-7 }, { a: '1e-7' }],
    [{ a: 1.000_01 }, { a: 1.0001 }],
    [{ a: 2 ** 53 }, { a: 2 ** 53 + 2 }],
    [{ a: true }, { a: 'true' }],
    [{ a: null }, {}],
    [{ a: [] }, { a: {} }],
    [{ 'a.b': 1 }, { a: { b: 1 } }],
    [{ 'a[0]': 1 }, { a: [1] }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: ['x'] }, { a: ['x', 'x'] }],
  ])('differ for %j and %j', (one, other) => {
    const [a, b] = [mapArgs(one, undefined), mapArgs(other, undefined)];
    expect([a.ok, b.ok]).toEqual([true, true]);
    expect(a).not.toEqual(b);
  });
});

describe('a policy that forbids', () => {
  let cedar: Cedar;
  beforeAll(async () => {
    const on = (condition: string) => `forbid (principal, action, resource) when { ${condition} };`;
    cedar = opened(
      await openCedar({
        policies: {
          all: 'permit (principal, action, resource);',
          path: on('context.args has path && context.args.path like "/etc/*"'),
          n: on('context.args has n && context.args.n > 10'),
          flat: on('context.flat.hasTag("path") && context.flat.getTag("path") like "*shadow*"'),
        },
        schema: 'type Arguments = { path?: String, n?: Long };',
      }),
    );
  });
  afterAll(() => cedar.close());

  it('is never slipped by, whatever stands beside the argument', () => {
    const hot = fc.oneof(
      fc.record({ path: fc.string({ maxLength: 5 }).map((rest) => `/etc/${rest}`) }),
      fc.record({ path: fc.array(fc.constant('/etc/x')) }),
      fc.record({ n: fc.oneof(fc.integer({ min: 11 }), fc.double({ min: 10.5, noNaN: true })) }),
      fc.record({ path: fc.constantFrom('shadow', 'x/shadow.bak') }),
    );
    fc.assert(
      fc.property(ARGS, hot, (noise, args) => {
        expect(cedar.evaluate(request({ args: { ...noise, ...args } })).decision).toBe('deny');
      }),
      { numRuns: 200 },
    );
  });

  it('answers for any arguments, and lets the harmless pass', () => {
    fc.assert(
      fc.property(ARGS, (args) => {
        const { decision, cause } = cedar.evaluate(request({ args }));
        // The engine itself is never the one to refuse: what it can't take was sorted out before.
        expect(cause).not.toBe('engine');
        expect(['allow', 'deny']).toContain(decision);
      }),
      { numRuns: 300 },
    );
    expect(
      cedar.evaluate(
        request({ args: { path: '/projects/a', n: 3, list: [1.5, null, { a: 'b' }] } }),
      ).decision,
    ).toBe('allow');
  });
});

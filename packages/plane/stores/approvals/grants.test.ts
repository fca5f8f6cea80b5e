import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Approval, type Grant, isFailure, type JsonObject } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openGrants } from './grants.ts';
import { covers, type GrantedCall } from './match.ts';

import { type ArgsWish, type GrantWish, grantFor } from './propose.ts';
import { Bench, granted, ME, START_MS } from './testing/bench.ts';
import { grantWords } from './words.ts';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.end());

const exact: ArgsWish = { kind: 'exact' };
const anyArgs: ArgsWish = { kind: 'any' };

/** The grant that comes of approving a request with this wish. */
function given(wish: GrantWish, args?: JsonObject): Grant {
  const id = bench.ask({}, args === undefined ? {} : { args });
  const decided = bench.desk.decide(id, { state: 'approved', ...ME, note: 'fine', wish });
  if (decided.kind !== 'ended' || decided.grant === null) throw new Error(JSON.stringify(decided));
  expect(decided.outcome.grant).toBe(decided.grant.id);
  return decided.grant;
}

function isCovered(call: Partial<GrantedCall> = {}, nowMs = bench.nowMs): boolean {
  return bench.desk.grants.findGrant(granted(call), nowMs) !== undefined;
}

const OTHER_CALLS: readonly (readonly [string, Partial<GrantedCall>])[] = [
  ['server', { server: 'other' }],
  ['tool', { tool: 'other' }],
  ['rule', { rule_id: 'other' }],
  ['agent', { agent: { agent_id: 'other', env: 'dev', principal: 'ann' } }],
  ['environment', { agent: { agent_id: 'coder', env: 'prod', principal: 'ann' } }],
  ['principal', { agent: { agent_id: 'coder', env: 'dev' } }],
];

describe('a grant', () => {
  test.each(OTHER_CALLS)('never covers another %s', (_what, call) => {
    given({ kind: 'always', args: anyArgs });
    expect(isCovered()).toBe(true);
    expect(isCovered(call)).toBe(false);
  });

  test.each<GrantWish>([{ kind: 'once' }, { kind: 'always', args: anyArgs }])(
    'counts only when the end of its request is an approval that names it: $kind',
    (wish) => {
      const id = bench.ask({ wait: 'hint' });
      const entry = bench.desk.queue.get(id);
      if (entry.kind !== 'request') throw new Error('it was asked');
      const giver = { id: bench.desk.ports.uuid(), ...ME, nowMs: bench.nowMs };
      const grant = grantFor(entry.request, wish, giver);
      if (grant.kind === 'failure') throw new Error(grant.message);
      bench.desk.grants.add(grant);
      expect(isCovered()).toBe(false);
      bench.desk.queue.end(id, { state: 'approved', ...ME, grant: bench.desk.ports.uuid() });
      expect(isCovered()).toBe(false);
      expect(bench.desk.grants.list()).toMatchObject({ found: [] });
      const again = bench.ask({ wait: 'hint' });
      bench.desk.decide(again, { state: 'approved', ...ME, wish });
      expect(isCovered()).toBe(true);
    },
  );

  test('is there when the agent that waited learns of its approval', async () => {
    const { queue } = bench.desk;
    const id = bench.ask();
    const end = new Promise<boolean>((resolve) => {
      const known = queue.end.bind(queue);
      vi.spyOn(queue, 'end').mockImplementation((...args) => {
        const result = known(...args);
        resolve(isCovered());
        return result;
      });
    });
    bench.desk.decide(id, { state: 'approved', ...ME, wish: { kind: 'always', args: anyArgs } });
    expect(await end).toBe(true);
  });

  test('that lasts outlives its request, and one that was never given does not', () => {
    const lasting = given({ kind: 'always', args: anyArgs });
    const id = bench.ask();
    const left = { ...lasting, id: bench.desk.ports.uuid(), request: id };
    bench.desk.grants.add(left);
    bench.desk.queue.end(id, { state: 'rejected', ...ME });
    const later = bench.nowMs + 1;
    expect(bench.desk.grants.sweep(later) + bench.desk.queue.sweep(later)).toBe(3);
    expect(bench.desk.grants.list()).toMatchObject({ found: [{ grant: { id: lasting.id } }] });
    expect(isCovered()).toBe(true);
  });

  test('for once is for the very call, and is used up by it', () => {
    const id = bench.ask({ wait: 'hint' });
    bench.desk.decide(id, { state: 'approved', ...ME });
    const { grants } = bench.desk;
    for (const other of [
      { run_id: 'x' },
      { policy_hash: 'c'.repeat(64) },
      { args_hash: 'c'.repeat(64) },
    ]) {
      expect(grants.takeGrant(granted(other), bench.nowMs)).toBeUndefined();
    }
    const retry = granted({ call_id: 'call-2' });
    expect(grants.takeGrant(retry, bench.nowMs)).toMatchObject({ kind: 'once', request: id });
    expect(grants.takeGrant(retry, bench.nowMs)).toBeUndefined();
    expect(grants.list()).toMatchObject({ found: [{ state: 'used', end: { call_id: 'call-2' } }] });
  });

  test('for once comes of a hint only: a call that waits needs none', () => {
    bench.desk.decide(bench.ask(), { state: 'approved', ...ME });
    bench.desk.decide(bench.ask({ wait: 'hint' }), { state: 'rejected', ...ME });
    expect(bench.desk.grants.list()).toMatchObject({ found: [] });
  });

  test('for the run ends with the run, and holds the arguments or lets them be any', () => {
    given({ kind: 'run', args: exact });
    expect([isCovered({ call_id: 'x' }), isCovered({ run_id: 'x' })]).toEqual([true, false]);
    expect(isCovered({ args_hash: 'c'.repeat(64) })).toBe(false);
    given({ kind: 'run', args: anyArgs });
    expect(isCovered({ args_hash: 'c'.repeat(64) })).toBe(true);
  });

  test('for some minutes ends by itself, is listed as expired and swept', () => {
    given({ kind: 'minutes', durationMs: 60_000, args: exact });
    expect(isCovered({ run_id: 'another' })).toBe(true);
    expect(isCovered({}, START_MS + 59_999)).toBe(true);
    expect(isCovered({}, START_MS + 60_000)).toBe(false);
    bench.nowMs += 60_000;
    expect(bench.desk.grants.list()).toMatchObject({ found: [{ state: 'expired' }] });
    expect(bench.desk.grants.sweep(START_MS + 60_001)).toBe(1);
    expect(bench.desk.grants.list()).toMatchObject({ found: [] });
  });

  test('is revoked for good, at once and for every process', () => {
    const { id } = given({ kind: 'always', args: anyArgs });
    const other = bench.open();
    expect(other.grants.revoke(id, 'bob')).toMatchObject({
      kind: 'done',
      entry: { state: 'revoked' },
    });
    expect(isCovered()).toBe(false);
    expect(other.grants.revoke(id, 'ann')).toMatchObject({
      kind: 'already',
      entry: { end: { by: 'bob' } },
    });
    expect(other.grants.revoke('nothing', 'ann')).toEqual({ kind: 'missing' });
  });

  test('that was damaged covers nothing and is told', () => {
    const { id } = given({ kind: 'always', args: exact });
    const path = join(bench.home, 'grants', `${id}.json`);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"v":1', '"v":1,"wider":true'));
    expect(isCovered()).toBe(false);
    expect(bench.warnings.join()).toContain(path);
    expect(bench.desk.grants.list()).toMatchObject({ found: [], damaged: [{ id }] });
  });

  test('from a clock that runs ahead covers nothing yet', () => {
    given({ kind: 'always', args: exact });
    expect(isCovered({}, START_MS - 120_000)).toBe(false);
  });

  test('is refused when there are too many, and the approval stands', () => {
    const { ports } = bench.desk;
    const grants = openGrants({
      folder: join(bench.home, 'grants'),
      ports,
      seal: bench.seal('grants'),
      grantsMax: 1,
    });
    if (isFailure(grants)) throw new Error(grants.message);
    const one = given({ kind: 'always', args: exact });
    expect(grants.add({ ...one, id: ports.uuid() })).toMatchObject({
      kind: 'failure',
      message: 'there are too many grants; revoke some.',
    });
    grants.revoke(one.id, 'ann');
    expect(grants.add({ ...one, id: ports.uuid() })).toBeUndefined();
  });

  test.each<GrantWish>([{ kind: 'always', args: anyArgs }, { kind: 'once' }])(
    'is not left behind by whoever comes too late: $kind',
    (wish) => {
      const id = bench.ask();
      bench.desk.queue.end(id, { state: 'rejected', ...ME });
      expect(bench.desk.decide(id, { state: 'approved', ...ME, wish }).kind).toBe('already');
      expect(bench.desk.grants.list()).toMatchObject({ found: [] });
    },
  );
});

function pattern(like: { [name: string]: string }, ...free: readonly string[]): ArgsWish {
  return { kind: 'pattern', like: new Map(Object.entries(like)), free: new Set(free) };
}

describe('a grant for a pattern', () => {
  const always = (args: ArgsWish): GrantWish => ({ kind: 'always', args });
  const fits = (args: JsonObject) => isCovered({ args, args_hash: 'c'.repeat(64) });

  test('compares every argument that was shown, and takes no other', () => {
    given(always(pattern({ path: 'src/*' }, 'content')));
    expect(fits({ path: 'src/other.ts', content: 'anything' })).toBe(true);
    expect(fits({ path: 'src/other.ts' })).toBe(true);
    expect(fits({ path: 'srcs/other.ts', content: 'x' })).toBe(false);
    expect(fits({ content: 'x' })).toBe(false);
    expect(fits({ path: 'src/a', content: 'x', mode: 'overwrite' })).toBe(false);
    expect(fits({ path: ['src/a'], content: 'x' })).toBe(false);
    expect(isCovered({ args: undefined, args_hash: 'c'.repeat(64) })).toBe(false);
  });

  test.each([
    'src/../../etc/passwd',
    'src/..',
    'src/a\\..\\..\\b',
    'src/%2e%2e/x',
    'src/a\nb',
    'src/..%2fetc',
  ])('is not led out of its glob by %j', (path) => {
    given(always(pattern({ path: 'src/*' }, 'content')));
    expect(fits({ path, content: 'x' })).toBe(false);
  });

  test('compares values by what they are, at any depth', () => {
    const args = { path: 'src/a', options: { deep: [1, { two: null }] }, __proto__x: 1 };
    given(always(pattern({ path: 'src/*' })), args);
    expect(fits({ ...args, path: 'src/b' })).toBe(true);
    expect(fits({ ...args, options: { deep: [1, { two: false }] } })).toBe(false);
    expect(fits({ ...args, options: { deep: [1] } })).toBe(false);
    expect(fits({ ...args, options: { deep: [1, { two: null, three: 3 }] } })).toBe(false);
    expect(fits({ ...args, options: { deep: { 0: 1, 1: { two: null } } } })).toBe(false);
  });

  test('never covers what its words do not say', () => {
    const text = fc.string({ maxLength: 12 });
    const args = fc.dictionary(fc.constantFrom('path', 'content', 'mode'), text);
    const wish = always(pattern({ path: 'src/*' }));
    given(wish, { path: 'src/a', content: 'x' });
    fc.assert(
      fc.property(args, (some) => {
        const isRight =
          Object.keys(some).length === 2 &&
          some['content'] === 'x' &&
          some['path']?.startsWith('src/') === true;
        return isRight || !fits(some);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['a glob that does not fit the call', pattern({ path: 'lib/*' }), {}, 'does not fit the call'],
    ['an argument that was not shown', pattern({ mode: '*' }), {}, 'no argument `mode`'],
    ['a glob that is none', pattern({ path: 'a[' }), {}, 'is no glob'],
    [
      'a value with a secret taken out',
      pattern({}),
      { args: { key: '[REDACTED:injected-secret]' } },
      'a secret was taken out',
    ],
    ['arguments that were cut', pattern({}), { args_complete: false }, 'not shown in full'],
  ] as const)('is not made of %s', (_what, args, call, message) => {
    const id = bench.ask({}, call);
    const decided = bench.desk.decide(id, { state: 'approved', ...ME, wish: always(args) });
    expect(decided).toMatchObject({
      kind: 'failure',
      message: expect.stringContaining(message) as unknown,
    });
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });
});

describe('the words of a grant', () => {
  test('say all that is compared', () => {
    const grant = given({ kind: 'always', args: pattern({ path: 'src/*' }) });
    expect(grantWords(grant)).toEqual([
      'The tool write_file of the server files, where the rule ask-writes asks.',
      'By the agent coder (dev), started by ann, in any run.',
      'With these arguments and no others:',
      '  path is a text like src/*, with no step up (..) in it.',
      '  content is "x".',
      'As often as it is called, until it is revoked.',
    ]);
  });

  test('tell a grant for once, for the run and for some minutes apart', () => {
    const entry = bench.desk.queue.get(bench.ask());
    const request = entry.kind === 'request' ? entry.request : ({} as Approval);
    const giver = { id: request.id, ...ME, nowMs: START_MS };
    const wordsOf = (wish: GrantWish) => {
      const grant = grantFor(request, wish, giver);
      if (grant.kind === 'failure') throw new Error(grant.message);
      expect(covers(grant, granted(), START_MS)).toBe(true);
      return grantWords(grant).join(' ');
    };
    expect(wordsOf({ kind: 'once' })).toMatch(
      /under the policy b{12} only\..* in the run run-1 only\. With exactly the arguments that were shown \(hash a{12}\)\. Once, until 2026-01-31T12:15:00\.000Z\.$/,
    );
    expect(wordsOf({ kind: 'run', args: anyArgs })).toMatch(
      /in the run run-1 only\. With any arguments\. As often as it is called, until /,
    );
    expect(wordsOf({ kind: 'minutes', durationMs: 1_800_000, args: exact })).toMatch(
      /in any run\. .* until 2026-01-31T12:30:00\.000Z\.$/,
    );
  });
});

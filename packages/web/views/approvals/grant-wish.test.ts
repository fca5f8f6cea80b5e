import { expect, test } from 'vitest';
import { firstChoice, wishOf } from './grant-wish.ts';

test('a grant begins with the same arguments in the same run', () => {
  expect(wishOf(firstChoice({ path: 'a' }))).toEqual({ kind: 'run', args: { kind: 'exact' } });
  expect(wishOf(firstChoice('no object'))).toEqual({ kind: 'run', args: { kind: 'exact' } });
});

test('arguments that are neither like a glob nor free stay as they were shown', () => {
  const choice = firstChoice({ path: 'src/a', content: 'x', mode: 1 });
  const args = choice.args.map((one) => {
    if (one.name === 'path') return { ...one, is: 'like', glob: 'src/*' } as const;
    return one.name === 'content' ? ({ ...one, is: 'free' } as const) : one;
  });
  expect(wishOf({ ...choice, span: 'minutes', scope: 'pattern', args })).toEqual({
    kind: 'minutes',
    minutes: 30,
    args: { kind: 'pattern', like: { path: 'src/*' }, free: ['content'] },
  });
  expect(wishOf({ ...choice, span: 'once', scope: 'any' })).toEqual({ kind: 'once' });
});

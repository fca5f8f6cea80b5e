import { expect, test } from 'vitest';
import { guessed } from './guess.ts';
import { ENVS } from './identity-values.ts';

test.each([
  ['prd', 'prod'],
  ['production', 'prod'],
  ['development', 'dev'],
  ['Prod', 'prod'],
  ['staging', undefined],
  ['', undefined],
])('%j may have meant %s', (word, meant) => {
  expect(guessed(word, ENVS)).toBe(meant);
});

import { CLIENT, ENV } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { CLIENTS, ENVS } from './identity-values.ts';

test('the command line knows every client and environment of contract A', () => {
  expect(CLIENT).toMatchObject({ values: CLIENTS });
  expect(ENV).toMatchObject({ values: ENVS });
});

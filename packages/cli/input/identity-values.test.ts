import { EVENT } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { CLIENTS, ENVS } from './identity-values.ts';

test('names the clients and environments of contract A, all of them', () => {
  const { client, env } = EVENT.cases.run_start.fields;
  expect(client.shape).toMatchObject({ values: CLIENTS });
  expect(env.shape).toMatchObject({ values: ENVS });
});

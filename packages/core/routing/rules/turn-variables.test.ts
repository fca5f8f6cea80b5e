import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { turnFieldNames, VARIABLE_NAMES } from './turn-variables.ts';

const PAGE = readFileSync(
  new URL('../../../../docs/reference/gateway-config.md', import.meta.url),
  'utf8',
);

const [, TABLE = ''] = PAGE.split('\nConditions see these values');

/** `envelope` has a contract of its own, and amounts stand in cents and in micro-dollars. */
const ELSEWHERE = /_micros$|^user_daily_/;

test.each(VARIABLE_NAMES)('the reference has the variable %s with its fields', (name) => {
  const row = TABLE.split('\n').find((line) => line.includes(`\`${name}`)) ?? '';
  expect(row).not.toBe('');
  const fields = name === 'envelope' ? [] : turnFieldNames([name]);
  const missing = fields.filter((field) => !ELSEWHERE.test(field) && !row.includes(field));
  expect(missing).toEqual([]);
});

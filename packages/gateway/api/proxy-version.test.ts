import { expect, it } from 'vitest';
import { isOlder } from './proxy-version.ts';

it.each([
  ['1.2.3', '1.2.3', false],
  ['1.2.3', '1.2.4', true],
  ['1.10.0', '1.9.9', false],
  ['v2.0.0', '1.9.9', false],
  ['1.2.3-rc.1', '1.2.3', true],
  ['1.2.3', '1.2.3-rc.1', false],
  ['1.2.3+build', '1.2.3', false],
  ['nonsense', '0.0.1', true],
  ['', '0.0.1', true],
])('%j comes before %j: %s', (version, than, expected) => {
  expect(isOlder(version, than)).toBe(expected);
});

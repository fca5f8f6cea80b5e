import { CALL_SEARCH_KEYS } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { command } from '../commands/query.ts';

/** Flags that filter no calls. */
const OTHERS = new Set(['runs', 'degraded', 'args', 'limit', 'after', 'csv', 'json']);

test('the keys of a search are the filters of `sub query`', () => {
  const flags = Object.keys(command.options).filter((name) => !OTHERS.has(name));
  expect(Object.keys(CALL_SEARCH_KEYS).toSorted()).toEqual(flags.toSorted());
});

test('the words of a search stand for the values of `sub query`', () => {
  for (const key of ['decision', 'status', 'kind'] as const) {
    const { words } = CALL_SEARCH_KEYS[key];
    const flag = command.options[key];
    const values = typeof flag === 'object' && flag.kind === 'choice' ? flag.values : [];
    for (const { value } of words) expect(values).toContain(value);
  }
});

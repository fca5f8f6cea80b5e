// The options of `sub shim`, its help, and the table that says which of them can loosen it, are one.
import { readFileSync } from 'node:fs';
import { SHIM_FLAGS } from '@subluminal/plane/clients';
import { expect, test } from 'vitest';
import { command as shim } from '../commands/shim.ts';

const kindOf = (takesValue: boolean) => (takesValue ? 'string' : 'boolean');

test('every option of the shim is classified as loosening or not', () => {
  const options = Object.entries(shim.options).map(
    ([name, { kind }]) => [name, kindOf(kind !== 'flag')] as const,
  );
  const flags = Object.entries(SHIM_FLAGS).map(
    ([name, { takesValue }]) => [name, kindOf(takesValue)] as const,
  );
  expect(Object.fromEntries(flags)).toEqual(Object.fromEntries(options));
});

test('the shim itself takes no option that the table does not know', () => {
  const source = readFileSync(new URL('./shim.ts', import.meta.url), 'utf8');
  const [, table = ''] = /const OPTIONS = \{(.*?)\} as const/s.exec(source) ?? [];
  const taken = [
    ...table.matchAll(/^ {2}'?([a-z-]+)'?: \{ type: '(\w+)'(?:, multiple: true)? \}/gm),
  ].map(([, name = '', type = '']) => [name, type] as const);
  expect(Object.fromEntries(taken)).toEqual(
    Object.fromEntries(
      Object.entries(SHIM_FLAGS).map(([name, { takesValue }]) => [name, kindOf(takesValue)]),
    ),
  );
});

import { clientOf } from '@subluminal/plane/clients';
import { expect, test } from 'vitest';
import { checkHookFlags, type HookFlags, UNSET_HOOKS } from './hooks.ts';

const UNSET: HookFlags = { ...UNSET_HOOKS, 'dry-run': false, yes: true, json: false };

test.each<[readonly (keyof HookFlags)[], string]>([
  [['hooks', 'no-hooks'], '--hooks and --no-hooks say the opposite.'],
  [['managed', 'no-hooks'], '--managed and --no-hooks say the opposite.'],
  [['trust-hooks', 'no-hooks'], '--trust-hooks and --no-hooks say the opposite.'],
  [['hooks', 'managed', 'no-hooks'], 'and --no-hooks say the opposite.'],
  [['managed', 'trust-hooks'], 'hooks of --managed are trusted already.'],
])('%j contradict each other', (given, words) => {
  const flags = { ...UNSET, ...Object.fromEntries(given.map((name) => [name, true])) };
  expect(() => checkHookFlags(flags, undefined)).toThrow(words);
});

test('only Codex is told to trust hooks', () => {
  const flags = { ...UNSET, 'trust-hooks': true };
  expect(() => checkHookFlags(flags, clientOf('claude-code'))).toThrow(
    '--trust-hooks is for Codex',
  );
  expect(() => checkHookFlags(flags, clientOf('codex'))).not.toThrow();
  expect(() => checkHookFlags(flags, undefined)).not.toThrow();
});

test.each<[readonly (keyof HookFlags)[]]>([
  [[]],
  [['no-hooks']],
  [['hooks', 'managed']],
  [['hooks', 'trust-hooks']],
])('%j go together', (given) => {
  const flags = { ...UNSET, ...Object.fromEntries(given.map((name) => [name, true])) };
  expect(() => checkHookFlags(flags, undefined)).not.toThrow();
});

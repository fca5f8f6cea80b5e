import { expect, test } from 'vitest';
import { ClientSession } from './client-session.ts';
import { MADE_UP, useOf } from './testing/hook-desk.ts';

test('an output that must not be shown is held back when more of them are waiting than are remembered', () => {
  const session = new ClientSession(MADE_UP, 's');
  for (let count = 0; count < 1_000; count++) session.holdBack(useOf('Bash', {}), 'a secret');
  const use = useOf('Bash', {});
  session.holdBack(use, 'a secret');
  expect(session.takeHeldBack(use)).toBe('a secret');
});

test('a prompt that comes again is not new, however many there were', () => {
  const session = new ClientSession(MADE_UP, 's');
  for (let count = 0; count < 20_000; count++) session.isNewPrompt(`p${count}`);
  expect(session.isNewPrompt('p19999')).toBe(false);
});

import { expect, test } from 'vitest';
import { outlineCall } from './call-outline.ts';

const BASH = { server_name: 'codex', tool_name: 'Bash' };

test('a command in a terminal is opaque: nobody knows what is typed into it later', () => {
  const outline = outlineCall(BASH, { command: 'less notes.txt', tty: true });
  expect(outline?.opaque).toEqual([{ why: 'terminal', text: 'less notes.txt' }]);
  expect(outline?.programs.map(({ name }) => name)).toEqual(['less']);
  expect(outlineCall(BASH, { command: 'less notes.txt', tty: false })?.opaque).toEqual([]);
  expect(outlineCall(BASH, { tty: true })).toBeUndefined();
});

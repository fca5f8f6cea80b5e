import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import type { Io, Output } from '../terminal/io.ts';
import { blocked, end } from './recorded.test-support.ts';
import { Screen } from './screen.ts';

/** A screen, and what stands on it. */
function screenOf(isTerminal: boolean) {
  const written = { out: '', err: '' };
  const output = (name: 'out' | 'err'): Output => ({
    write: (text) => {
      written[name] += text;
    },
    colors: picocolors.createColors(false),
    columns: 100,
    isTerminal,
  });
  const io: Io = {
    out: output('out'),
    err: output('err'),
    stdin: (async function* () {})(),
    stdinIsTerminal: false,
  };
  const { signal } = new AbortController();
  return {
    screen: new Screen({ filter: {}, backlog: 5, json: false, allArgs: false, io, signal }),
    written,
  };
}

const WAITS = 'sub: waiting for calls; Ctrl-C ends.\n';

test('the screen says that it waits where a person sees nothing', async () => {
  const { screen, written } = screenOf(true);
  await screen.endPast();
  screen.sayThatItWaits();
  expect(written).toEqual({ out: '', err: WAITS });
});

test('the screen says nothing where something was shown', async () => {
  const { screen, written } = screenOf(true);
  await screen.show(blocked());
  await screen.endPast();
  screen.sayThatItWaits();
  expect(written.out).toContain('BLOCK');
  expect(written.err).toBe('');
});

test('the screen says nothing to a program', async () => {
  const { screen, written } = screenOf(false);
  await screen.show(end());
  await screen.endPast();
  screen.sayThatItWaits();
  expect(written).toEqual({ out: '', err: '' });
});

import { isFailure } from '@subluminal/contracts';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { asker, type Interrupts } from './confirm.ts';
import type { Io } from './io.ts';

interface Typed {
  readonly io: Io;
  readonly said: string[];
  readonly isClosed: () => boolean;
}

/** A terminal at which these pieces are typed. */
function terminal(pieces: readonly string[], isTerminal = true): Typed {
  const said: string[] = [];
  let isClosed = false;
  const output = {
    write: (text: string) => void said.push(text),
    colors: picocolors.createColors(false),
    columns: 80,
    isTerminal,
  };
  async function* input() {
    try {
      for (const piece of pieces) yield new TextEncoder().encode(piece);
    } finally {
      isClosed = true;
    }
  }
  const io = { out: output, err: output, stdin: input(), stdinIsTerminal: isTerminal };
  return { io, said, isClosed: () => isClosed };
}

test.each([
  ['y\n', true],
  ['Yes\n', true],
  [' y \r\n', true],
  ['\n', false],
  ['n\n', false],
  ['yesterday\n', false],
  ['', false],
])('%j is %s', async (typed, is) => {
  expect(await asker(terminal([typed]).io, false).ask('Well?')).toBe(is);
});

test('several questions get their answers, however the input is split', async () => {
  const { io, said, isClosed } = terminal(['y', '\nno\ny', '\n']);
  const { ask, close } = asker(io, false);
  expect([await ask('One?'), await ask('Two?'), await ask('Three?')]).toEqual([true, false, true]);
  expect(said).toEqual(['One? [y/N] ', 'Two? [y/N] ', 'Three? [y/N] ']);
  expect(isClosed()).toBe(false);
  await close();
  expect(isClosed()).toBe(true);
});

test('the end of the input ends the line of the question', async () => {
  const { io, said } = terminal([]);
  expect(await asker(io, false).ask('Well?')).toBe(false);
  expect(said.join('')).toBe('Well? [y/N] \n');
});

test.each([
  [['y\n'], 'nothing more was changed'],
  [[], 'nothing was changed'],
])('Ctrl-C reports whether something was changed, after %j', async (answers, words) => {
  const { io, said } = terminal(answers);
  let interrupt = (): void => undefined;
  let listening = 0;
  const died = new Promise<void>((resolve) => {
    const interrupts: Interrupts = {
      listen: (onInterrupt) => {
        interrupt = onInterrupt;
        listening += 1;
        return () => void (listening -= 1);
      },
      die: resolve,
    };
    const hanging = asker({ ...io, stdin: hangsAfter(io.stdin) }, false, interrupts);
    void (async () => {
      for (const _ of answers) await hanging.ask('One?');
      void hanging.ask('Two?');
      interrupt();
    })();
  });
  await died;
  expect(said.join('')).toMatch(new RegExp(`\\[y/N\\] \nsub: ${words}\\.\n$`));
  expect(listening).toBe(1);
});

/** Somebody who types no more, and does not go away either. */
async function* hangsAfter(input: Io['stdin']): AsyncGenerator<Uint8Array> {
  yield* input;
  await new Promise(() => undefined);
}

test('no question is asked with --yes', async () => {
  const { io, said } = terminal([], false);
  expect(await asker(io, true).ask('Well?')).toBe(true);
  expect(said).toEqual([]);
});

test('a question fails without a terminal', async () => {
  expect(isFailure(await asker(terminal(['y\n'], false).io, false).ask('Well?'))).toBe(true);
});

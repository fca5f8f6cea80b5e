import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { choice, createCommand, done, flag, many, one, text, texts } from './input/command.ts';
import { type Catalog, parseArguments } from './program.ts';

const style = { colors: picocolors.createColors(false), columns: 80 };

let received: unknown;
const command = createCommand({
  path: ['box', 'pack'],
  summary: 'pack a box',
  description: 'Packs a box.',
  args: { box: one('the box'), thing: many('what goes in') },
  options: {
    fast: flag('hurry'),
    'no-lid': flag('leave it open'),
    'tape-color': text('color', 'the tape', 't'),
    label: texts('text', 'labels'),
    size: choice(['small', 'large'], 'how big'),
  },
  examples: ['sub box pack red apple'],
  exitCodes: { 0: 'packed' },
  load: async () => ({
    run: async (input) => {
      received = input;
      return done(0);
    },
  }),
});
const pick = createCommand({
  path: ['pick'],
  summary: 'pick one',
  description: 'Picks one.',
  args: {},
  options: {},
  examples: ['sub pick'],
  exitCodes: { 0: 'picked' },
  load: async () => ({ run: async () => done(0) }),
});
const catalog: Catalog = {
  version: '1.2.3',
  description: 'A test.',
  groups: [{ name: 'box', summary: 'boxes', description: 'Boxes.' }],
  commands: [command, pick],
};
const parse = (...argv: string[]) => parseArguments(argv, catalog, style);

test('gives a command its arguments and options by name', async () => {
  const intent = parse(
    ...['box', 'pack', 'red', 'apple', '-', '--fast', '-t', 'blue'],
    ...['--no-lid', '--label', 'a', '--label', 'b', '--size', 'large'],
  );
  if (intent.kind !== 'run') throw new Error(`it did not run: ${intent.kind}`);
  await intent.command.start(intent.values, {} as never);
  expect(received).toEqual({
    args: { box: 'red', thing: ['apple', '-'] },
    options: { fast: true, 'no-lid': true, 'tape-color': 'blue', label: ['a', 'b'], size: 'large' },
  });
});

test('fills in what was not given', async () => {
  const intent = parse('box', 'pack', 'red', 'apple');
  if (intent.kind !== 'run') throw new Error(`it did not run: ${intent.kind}`);
  await intent.command.start(intent.values, {} as never);
  expect(received).toMatchObject({ options: { fast: false, 'no-lid': false, label: [] } });
});

test.each([
  [['bx'], 'Did you mean box?'],
  [['box', 'pak', 'a', 'b'], 'Did you mean pack?'],
  [['pack'], 'Did you mean `sub box pack`?'],
  // `pick` is spelt alike, but `pack` is a command.
  [['pack', 'x'], 'Did you mean `sub box pack`?'],
  [['box', 'pack', 'a', 'b', '--fsat'], 'Did you mean --fast?'],
  [['box', 'pack', 'a'], 'Run `sub box pack --help`'],
  [['box', 'pack', 'a', 'b', '--size', 'huge'], 'Run `sub box pack --help`'],
  [['box', 'help', 'pak'], 'Did you mean pack?'],
  [['help', 'bx'], 'Did you mean box?'],
  [['help', 'box', 'pack', 'more'], 'Run `sub box pack --help`'],
])('%j is a usage error with a way out', (argv, fix) => {
  const intent = parse(...argv);
  expect(intent).toMatchObject({ kind: 'failure', code: 'SUB_USAGE' });
  expect(intent.kind === 'failure' && intent.fix).toContain(fix);
});

test('hands over what an option takes, for whoever guesses what was meant', () => {
  expect(parse('box', 'pack', 'a', 'b', '--size', 'smal')).toMatchObject({
    kind: 'failure',
    offered: { word: 'smal', choices: ['small', 'large'] },
  });
});

test('prints help and version, and helps where a command is missing', () => {
  expect(parse('--version')).toEqual({ kind: 'print', text: '1.2.3\n' });
  expect(parse('-v')).toEqual(parse('--version'));
  expect(parse('help', 'box', 'pack')).toMatchObject({ kind: 'print' });
  expect(parse('box', 'help', 'pack')).toEqual(parse('help', 'box', 'pack'));
  expect(parse('box', 'help')).toEqual(parse('help', 'box'));
  expect(parse('box', 'pack', '--help')).toEqual(parse('help', 'box', 'pack'));
  const [bare, group] = [parse(), parse('box')];
  expect(bare.kind === 'missing' && bare.text).toContain('boxes');
  expect(group.kind === 'missing' && group.text).toContain('pack');
});

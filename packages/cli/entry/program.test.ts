import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { choice, defineCommand, done, many, textOption, textsOption } from '../input/command.ts';
import { type Program, parseArguments } from './program.ts';

const style = { colors: picocolors.createColors(false), columns: 80 };

let received: unknown;
const command = defineCommand({
  description: 'Packs a box.',
  args: { box: 'the box', thing: many('what goes in') },
  options: {
    fast: 'hurry',
    lid: 'close it',
    'no-lid': 'leave it open',
    'tape-color': textOption('color', 'the tape', 't'),
    label: textsOption('text', 'labels'),
    size: choice(['small', 'large'], 'how big'),
  },
  examples: ['sub box pack red apple'],
  exitCodes: { 0: 'packed' },
  run: async (input) => {
    received = input;
    return done(0);
  },
});
const pick = defineCommand({
  description: 'Picks one.',
  args: {},
  options: {},
  examples: ['sub pick'],
  exitCodes: { 0: 'picked' },
  run: async () => done(0),
});
const program: Program = {
  version: '1.2.3',
  description: 'A test.',
  startHere: 'Start here.',
  sections: [
    {
      title: 'Things',
      entries: [
        {
          name: 'box',
          summary: 'Boxes',
          commands: [
            { path: ['box', 'pack'], summary: 'Pack a box', load: async () => ({ command }) },
            { path: ['box', 'unpack'], summary: 'Empty', load: async () => ({ command }) },
          ],
        },
        {
          name: 'crate',
          summary: 'Crates',
          commands: [
            { path: ['crate', 'unpack'], summary: 'Empty', load: async () => ({ command }) },
            { path: ['crate', 'open'], summary: 'Open', load: async () => ({ command }) },
          ],
        },
        {
          name: 'shelf',
          summary: 'Shelves',
          fallback: 'look',
          commands: [
            { path: ['shelf', 'look'], summary: 'Look', load: async () => ({ command: pick }) },
            { path: ['shelf', 'clear'], summary: 'Clear', load: async () => ({ command: pick }) },
          ],
        },
        { path: ['pick'], summary: 'Pick one', load: async () => ({ command: pick }) },
      ],
    },
  ],
};
const parse = (...argv: string[]) => parseArguments(argv, program, style);

test('a command gets its arguments and options by name', async () => {
  const intent = await parse(
    ...['box', 'pack', 'red', 'apple', '-', '--fast', '-t', 'blue'],
    ...['--no-lid', '--label', 'a', '--label', 'b', '--size', 'large'],
  );
  if (intent.kind !== 'run') throw new Error(`it did not run: ${intent.kind}`);
  await intent.command.run(intent.values, {} as never);
  expect(received).toEqual({
    args: { box: 'red', thing: ['apple', '-'] },
    options: {
      fast: true,
      lid: false,
      'no-lid': true,
      'tape-color': 'blue',
      label: ['a', 'b'],
      size: 'large',
      json: false,
    },
  });
});

test('a command gets defaults for options that were not given', async () => {
  const intent = await parse('box', 'pack', 'red', 'apple');
  if (intent.kind !== 'run') throw new Error(`it did not run: ${intent.kind}`);
  await intent.command.run(intent.values, {} as never);
  expect(received).toMatchObject({ options: { fast: false, 'no-lid': false, label: [] } });
});

test.each([
  [['bx'], 'Did you mean box?'],
  [['box', 'pak', 'a', 'b'], 'Did you mean pack?'],
  // `pack` is a command of `box`, but `pick` stands where it was looked for.
  [['pack'], 'Did you mean pick?'],
  [['unpack', 'x'], 'Did you mean `sub box unpack` or `sub crate unpack`?'],
  [['box', 'open'], 'Did you mean `sub crate open`?'],
  [['box', 'pack', 'a', 'b', '--fsat'], 'Did you mean --fast?'],
  [['box', 'pack', 'a'], 'Run `sub box pack --help`'],
  [['box', 'pack', 'a', 'b', '--size', 'huge'], 'Run `sub box pack --help`'],
  [['box', 'help', 'pak'], 'Did you mean pack?'],
  [['help', 'bx'], 'Did you mean box?'],
  [['help', 'box', 'pack', 'more'], 'Run `sub box pack --help`'],
])('%j is a usage error with a fix', async (argv, fix) => {
  const intent = await parse(...argv);
  expect(intent).toMatchObject({ kind: 'failure', code: 'SUB_USAGE' });
  expect(intent.kind === 'failure' && intent.fix).toContain(fix);
});

test('a wrong value of an option is reported with the valid values, and with a guess', async () => {
  const intent = await parse('box', 'pack', 'a', 'b', '--size', 'smal');
  expect(intent).toMatchObject({ kind: 'failure', fix: 'Did you mean small?' });
  expect(intent.kind === 'failure' && intent.message).toContain('small, large');
});

test('the parser prints help and version, and help where a command is missing', async () => {
  expect(await parse('--version')).toEqual({ kind: 'print', text: '1.2.3\n' });
  expect(await parse('-v')).toEqual(await parse('--version'));
  expect(await parse('help', 'box', 'pack')).toMatchObject({ kind: 'print' });
  expect(await parse('box', 'help', 'pack')).toEqual(await parse('help', 'box', 'pack'));
  expect(await parse('box', 'help')).toEqual(await parse('help', 'box'));
  expect(await parse('box', 'pack', '--help')).toEqual(await parse('help', 'box', 'pack'));
  const [bare, group] = [await parse(), await parse('box')];
  expect(bare.kind === 'missing' && bare.text).toContain('Boxes');
  expect(group.kind === 'missing' && group.text).toContain('pack');
});

test.each([
  [['shelf', 'paint', 'red'], "unknown command 'paint'.", 'Run `sub shelf --help`'],
  [['shelf', 'cleer'], "unknown command 'cleer'.", 'Did you mean clear?'],
  [['shelf', 'look', 'red'], "too many arguments for 'look'", 'Run `sub shelf look --help`'],
])('%j names what is wrong, also where a group has a command of its own', async (argv, ...says) => {
  const intent = await parse(...argv);
  if (intent.kind !== 'failure') throw new Error(`it did not fail: ${intent.kind}`);
  const [message, fix] = says;
  expect(intent.message).toContain(message);
  expect(intent.fix).toContain(fix);
});

test('a flag and its opposite are both told, in either order', async () => {
  for (const flags of [
    ['--lid', '--no-lid'],
    ['--no-lid', '--lid'],
  ]) {
    const intent = await parse('box', 'pack', 'red', 'apple', ...flags);
    if (intent.kind !== 'run') throw new Error(`it did not run: ${intent.kind}`);
    await intent.command.run(intent.values, {} as never);
    expect(received).toMatchObject({ options: { lid: true, 'no-lid': true } });
  }
});

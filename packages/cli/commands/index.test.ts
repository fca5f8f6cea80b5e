import { readFileSync } from 'node:fs';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { type Program, parseArguments } from '../entry/program.ts';
import { allEntries } from '../input/command.ts';
import { HELP_SECTIONS } from './index.ts';

const style = { colors: picocolors.createColors(false), columns: 80 };
const PROGRAM: Program = {
  version: '1.2.3',
  description: 'A test.',
  startHere: 'Start here.',
  sections: HELP_SECTIONS,
};
const named = await Promise.all(
  allEntries(HELP_SECTIONS).map(async ({ path, summary, load }) => ({
    name: path.join(' '),
    path,
    summary,
    command: (await load()).command,
  })),
);
const docs = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8');

/** The words of a shell line behind its last pipe, `sub` left out. */
function wordsOf(line: string): string[] {
  const words = (line.split('|').at(-1) ?? '').match(/'[^']*'|\S+/g) ?? [];
  return words.slice(1).map((word) => word.replace(/^'|'$/g, ''));
}

test.each(named)('the examples of `$name` are calls of it', async ({ command, path }) => {
  expect(command.examples.length).toBeGreaterThan(0);
  for (const example of command.examples) {
    const intent = await parseArguments(wordsOf(example), PROGRAM, style);
    expect(intent).toMatchObject({ kind: 'run', path });
  }
});

test.each(named)('the help of `$name` has examples and exit codes', async ({ command, path }) => {
  const intent = await parseArguments([...path, '--help'], PROGRAM, style);
  expect(intent).toMatchObject({ kind: 'print' });
  const text = intent.kind === 'print' ? intent.text : '';
  expect(text).toContain('Examples:');
  for (const doc of Object.values(command.exitCodes)) expect(text).toContain(doc);
});

test.each(named)('the reference has `$name` with all of its options', ({ name, command }) => {
  const [, section = ''] = docs.split(`\n## sub ${name}\n`);
  const [own = ''] = section.split('\n## ');
  expect(own).not.toBe('');
  for (const option of Object.keys(command.options)) expect(own).toContain(`\`--${option}`);
});

test('the reference has no command that does not exist', () => {
  const documented = [...docs.matchAll(/\n## sub (.+)\n/g)].map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set([...named.map(({ name }) => name), 'help']));
});

test('the commands that every user needs first are there', () => {
  verifies('SL-6-first');
  const names = named.map(({ name }) => name);
  const first = ['import', 'restore', 'run', 'tail', 'query', 'ledgerd', 'version', 'doctor'];
  expect(names).toEqual(expect.arrayContaining(first));
});

/** Commands that forward a stream or print shell code have no document to print. */
const WITHOUT_JSON = new Set([
  'steward chat',
  'gateway serve',
  'serve start',
  'demo',
  'shim',
  'hook',
  'hook-host',
  'run',
  'wrap',
  'completion',
]);

test.each(named)(
  'the help of `$name` has the same form as the others',
  ({ name, summary, command }) => {
    const { description, args, options, exitCodes } = command;
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(description).toMatch(/^[A-Z].*\.$/s);
    for (const { doc } of [...Object.values(args), ...Object.values(options)]) {
      expect(doc, doc).toMatch(/[^.]$/);
    }
    expect(Object.keys(exitCodes)).toEqual(expect.arrayContaining(['0', '2']));
    expect('json' in options).toBe(!WITHOUT_JSON.has(name));
  },
);

test.each(named)('the help of `$name` has its parts in the same order', async ({ path }) => {
  const intent = await parseArguments([...path, '--help'], PROGRAM, style);
  const text = intent.kind === 'print' ? intent.text : '';
  const parts = ['Usage:', 'Options:', 'Examples:', 'Exit codes:'].map((part) =>
    text.indexOf(part),
  );
  expect(parts).not.toContain(-1);
  expect(parts).toEqual(parts.toSorted((left, right) => left - right));
});

async function helpOf(...argv: readonly string[]): Promise<string> {
  const intent = await parseArguments([...argv, '--help'], PROGRAM, { ...style, columns: 100 });
  return intent.kind === 'print' ? intent.text : '';
}

test('the usage of a command that starts another program shows `--`', async () => {
  expect(await helpOf('run')).toMatch(/^Usage: sub run \[options\] -- <command\.\.\.>\n/);
  expect(await helpOf('shim')).toMatch(/^Usage: sub shim \[options\] -- <command\.\.\.>\n/);
});

test('the help of `sub` lists every command in sections, and says where to start', async () => {
  const text = await helpOf();
  const titles = [...text.matchAll(/^([A-Z][a-z ]+):$/gm)].map(([, title]) => title);
  const sections = HELP_SECTIONS.map(({ title }) => title);
  expect(titles.filter((title) => title !== 'Options')).toEqual(sections);
  for (const { path, summary } of named.filter((one) => one.path.length === 1)) {
    expect(text).toMatch(new RegExp(`^ {2}${path[0]} +${summary.slice(0, 20)}`, 'm'));
  }
  expect(text).toContain('Start here.');
});

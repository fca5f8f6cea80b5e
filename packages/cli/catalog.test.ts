import { readFileSync } from 'node:fs';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { verifies } from '../../test/requirements.ts';
import { CATALOG } from './catalog.ts';
import { parseArguments } from './program.ts';

const style = { colors: picocolors.createColors(false), columns: 80 };
const docs = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8');
const named = CATALOG.commands.map((command) => ({ name: command.path.join(' '), command }));

/** The words of a shell line behind its last pipe, `sub` left out. */
function wordsOf(line: string): string[] {
  const words = (line.split('|').at(-1) ?? '').match(/'[^']*'|\S+/g) ?? [];
  return words.slice(1).map((word) => word.replace(/^'|'$/g, ''));
}

test.each(named)('the examples of `$name` are calls of it', ({ command }) => {
  expect(command.examples.length).toBeGreaterThan(0);
  for (const example of command.examples) {
    expect(parseArguments(wordsOf(example), CATALOG, style)).toMatchObject({
      kind: 'run',
      command: { path: command.path },
    });
  }
});

test.each(named)('the help of `$name` has examples and exit codes', ({ command }) => {
  const intent = parseArguments([...command.path, '--help'], CATALOG, style);
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

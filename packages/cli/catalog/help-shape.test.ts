import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { CATALOG } from '../catalog.ts';
import { parseArguments } from '../program.ts';

/** They hand a stream on, or print code for a shell: there is no document to print. */
const WITHOUT_JSON = new Set(['shim', 'run', 'wrap', 'completion']);

const named = CATALOG.commands.map((command) => ({ name: command.path.join(' '), command }));

test.each(named)('`$name` is told in the same form as the others', ({ name, command }) => {
  const { summary, description, args, options, exitCodes } = command;
  expect(summary).toMatch(/^[a-z].*[^.]$/);
  expect(description).toMatch(/^[A-Z].*\.$/s);
  for (const { doc } of [...Object.values(args), ...Object.values(options)]) {
    expect(doc, doc).toMatch(/[^.]$/);
  }
  expect(Object.keys(exitCodes)).toEqual(expect.arrayContaining(['0', '2']));
  expect('json' in options).toBe(!WITHOUT_JSON.has(name));
});

test.each(named)('the help of `$name` has its parts in the same order', ({ command }) => {
  const style = { colors: picocolors.createColors(false), columns: 80 };
  const intent = parseArguments([...command.path, '--help'], CATALOG, style);
  const text = intent.kind === 'print' ? intent.text : '';
  const parts = ['Usage:', 'Options:', 'Examples:', 'Exit codes:'].map((part) =>
    text.indexOf(part),
  );
  expect(parts).not.toContain(-1);
  expect(parts).toEqual(parts.toSorted((left, right) => left - right));
});

test('what stands behind `--` is shown behind `--`', () => {
  const style = { colors: picocolors.createColors(false), columns: 100 };
  const helpOf = (...argv: readonly string[]) => {
    const intent = parseArguments([...argv, '--help'], CATALOG, style);
    return intent.kind === 'print' ? intent.text : '';
  };
  expect(helpOf('run')).toMatch(/^Usage: sub run \[options\] -- <command\.\.\.>\n/);
  expect(helpOf('shim')).toMatch(/^Usage: sub shim \[options\] -- <command\.\.\.>\n/);
  expect(helpOf()).toMatch(/^ {2}shim -- <command\.\.\.> /m);
});

import type { Problem } from '@subluminal/core/policy';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { renderProblem } from './render-problem.ts';

const colors = picocolors.createColors(false);

function render(line: string, column: number, columns = 80): string[] {
  const problem: Problem = {
    level: 'error',
    code: 'SUB_BUNDLE_VALUE',
    file: 'p.yaml',
    position: { line: 1, column },
    path: 'mode',
    message: 'unknown mode',
    fix: 'Use control.',
  };
  return renderProblem(problem, { lines: [line], colors, columns }).split('\n');
}

test('a problem starts with its position, so that an editor can jump to it', () => {
  expect(render('mode: x', 7)[0]).toBe(
    'p.yaml:1:7: error: unknown mode. Use control. [SUB_BUNDLE_VALUE]',
  );
});

test.each([
  ['plain text', 'mode: x', 7],
  ['a tab', '\tmode: x', 8],
  ['wide characters', '日本: x', 5],
  ['an escape sequence', '\u001b[1m: x', 7],
])('the caret points at the position behind %s', (_, line, column) => {
  const [, source = '', caret = ''] = render(line, column);
  const cells = [...source].flatMap((char) => (/[日本]/.test(char) ? [char, ''] : [char]));
  expect(cells[caret.indexOf('^')]).toBe('x');
});

test('only the part of a long line around the position is shown', () => {
  const [, source = '', caret = ''] = render(`${'a'.repeat(500)}x${'b'.repeat(500)}`, 501);
  expect(source.length).toBeLessThanOrEqual(80);
  expect(source[caret.indexOf('^')]).toBe('x');
});

test('only the shown part of a huge line is read', () => {
  const line = `${'a'.repeat(500_000)}x${'\u200b'.repeat(500_000)}`;
  // Each takes milliseconds if only a part is read, and most of a second if the whole line is.
  const rendered = Array.from({ length: 100 }, () => render(line, 500_001));
  for (const [, source = '', caret = ''] of rendered) {
    expect(source.length).toBeLessThanOrEqual(80);
    expect(source[caret.indexOf('^')]).toBe('x');
  }
});

test.each([
  ['##[error]x', 2],
  ['##vso[task.setvariable]x', 4],
  ['::error::x', 2],
])('gives a build server no command from %s, cut at %i', (line, column) => {
  const [, source = ''] = render(line, column);
  expect(source).not.toMatch(/##\w*\[|\| ::/);
  expect(source).toMatch(/\\u\{(23|3a)\}/);
});

test('a file name gives no command to a build server', () => {
  const problem = {
    level: 'error',
    code: 'SUB_BUNDLE_VALUE',
    file: '::error file=x::',
    position: { line: 1, column: 1 },
    path: '',
    message: '##[group]x',
    fix: 'y \u001b[2J',
  } as const;
  const [head] = renderProblem(problem, { lines: [], colors, columns: 80 }).split('\n');
  expect(head).toBe(
    '\\u{3a}:error file=x:::1:1: error: \\u{23}#[group]x. y \\u{1b}[2J [SUB_BUNDLE_VALUE]',
  );
});

test('no source is shown for a line that does not exist', () => {
  expect(render('', 1)).toHaveLength(2);
});

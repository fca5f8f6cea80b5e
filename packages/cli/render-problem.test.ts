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

test('puts the place first, so that an editor can jump to it', () => {
  expect(render('mode: x', 7)[0]).toBe(
    'p.yaml:1:7: error: unknown mode. Use control. [SUB_BUNDLE_VALUE]',
  );
});

test.each([
  ['plain text', 'mode: x', 7],
  ['a tab', '\tmode: x', 8],
  ['wide characters', '日本: x', 5],
  ['an escape sequence', '\u001b[1m: x', 7],
])('points the caret at the place behind %s', (_, line, column) => {
  const [, source = '', caret = ''] = render(line, column);
  const cells = [...source].flatMap((char) => (/[日本]/.test(char) ? [char, ''] : [char]));
  expect(cells[caret.indexOf('^')]).toBe('x');
});

test('shows only the part of a long line that is around the place', () => {
  const [, source = '', caret = ''] = render(`${'a'.repeat(500)}x${'b'.repeat(500)}`, 501);
  expect(source.length).toBeLessThanOrEqual(80);
  expect(source[caret.indexOf('^')]).toBe('x');
});

test('shows no source for a line that is not there', () => {
  expect(render('', 1)).toHaveLength(2);
});

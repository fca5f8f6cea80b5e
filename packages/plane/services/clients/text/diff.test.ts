import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../test/runs.ts';
import { unifiedDiff } from './diff.ts';

const name = '/home/me/.cursor/mcp.json';

function diff(before: string, after: string, context?: number): string {
  return unifiedDiff({ before, after, name, ...(context === undefined ? {} : { context }) });
}

describe('unifiedDiff', () => {
  test('says nothing about texts that are the same', () => {
    expect(diff('a\n', 'a\n')).toBe('');
  });

  test('shows a change with three lines around it', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
    expect(diff(before, before.replace('5', 'five'))).toBe(
      [
        '--- a/home/me/.cursor/mcp.json',
        '+++ b/home/me/.cursor/mcp.json',
        '@@ -2,7 +2,7 @@',
        ' 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
      ].join('\n'),
    );
  });

  test('makes two hunks of changes far apart, one of those close together', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n';
    const after = before.replace('1', 'one').replace('9', 'nine');
    expect(diff(before, after, 1).match(/^@@.*@@$/gm)).toEqual([
      '@@ -1,2 +1,2 @@',
      '@@ -8,2 +8,2 @@',
    ]);
    expect(diff(before, after, 4).match(/^@@.*@@$/gm)).toEqual(['@@ -1,9 +1,9 @@']);
  });

  test.each([
    ['a', 'b', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n'],
    ['a', 'a\n', '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n'],
    ['', 'a\n', '@@ -0,0 +1 @@\n+a\n'],
    ['a\n', '', '@@ -1 +0,0 @@\n-a\n'],
    ['a\r\nb\n', 'a\nb\n', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n'],
  ])('of %j and %j', (before, after, expected) => {
    expect(diff(before, after).split('\n').slice(2).join('\n')).toBe(expected);
  });

  test('leads from one text to the other, and back', () => {
    const texts = fc
      .array(fc.constantFrom('a', 'b', 'c', '', '-x', '+y', ' z', '@@'), { maxLength: 30 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(texts, texts, fc.nat({ max: 4 }), (before, after, context) => {
        const patch = unifiedDiff({ before, after, name, context });
        expect(follow(before, patch, '-')).toBe(after);
        expect(follow(after, patch, '+')).toBe(before);
      }),
      runs(2000),
    );
  });

  test('a large file with few changes gets a small diff', () => {
    const lines = Array.from({ length: 200_000 }, (_, at) => `line number ${at}, and more\n`);
    const before = lines.join('');
    lines[10] = 'changed\n';
    lines.splice(150_000, 1);
    const after = lines.join('');
    expect(before.length).toBeGreaterThan(5_000_000);
    const patch = diff(before, after);
    expect(patch.split('\n').length).toBeLessThan(25);
    expect(follow(before, patch, '-')).toBe(after);
  });

  test('a large file with nothing in common is one hunk', () => {
    const before = Array.from({ length: 50_000 }, (_, at) => `a${at}\n`).join('');
    const after = before.replaceAll('a', 'b');
    const patch = diff(before, after);
    expect(patch.match(/^@@/gm)).toHaveLength(1);
    expect(follow(before, patch, '-')).toBe(after);
  });
});

/** Applies a diff by its line numbers; by `+`, backwards. */
function follow(text: string, patch: string, from: '-' | '+'): string {
  const source = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const output: string[] = [];
  let at = 0;
  const lines = patch
    .replaceAll('\n\\ No newline at end of file\n', '\u0000')
    .match(/[^\n\u0000]*[\n\u0000]/g);
  for (const line of (lines ?? []).slice(2)) {
    const body = line.slice(1).replace('\u0000', '');
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n/.exec(line);
    if (header !== null) {
      const [start, count] = from === '-' ? [header[1], header[2]] : [header[3], header[4]];
      const next = Number(start) - (count === '0' ? 0 : 1);
      output.push(...source.slice(at, next));
      at = next;
    } else if (line.startsWith(' ') || line.startsWith(from)) {
      if (source[at] !== body) throw new Error(`line ${at + 1} is not as the diff says`);
      if (line.startsWith(' ')) output.push(body);
      at += 1;
    } else output.push(body);
  }
  return [...output, ...source.slice(at)].join('');
}

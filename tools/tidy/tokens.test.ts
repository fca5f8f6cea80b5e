import { describe, expect, test } from 'vitest';
import { tokenize } from './tokens.ts';

const shown = (text: string) => tokenize(text).map(({ kind, text: inner }) => `${kind}:${inner}`);

describe('tokenize', () => {
  test('tells comments and strings from code', () => {
    expect(shown(`a /* b 'c' */ = 'd // e'; // f "g`)).toEqual([
      'word:a',
      "comment:/* b 'c' */",
      'punct:=',
      'string:d // e',
      'punct:;',
      'comment:// f "g',
    ]);
  });

  test('reads the code in a template as code, however deep', () => {
    expect(shown('`a${b + `c${d}`}e` f')).toEqual([
      'template:a',
      'punct:{',
      'word:b',
      'punct:+',
      'template:c',
      'punct:{',
      'word:d',
      'punct:}',
      'template:',
      'punct:}',
      'template:e',
      'word:f',
    ]);
  });

  test('keeps the braces of an object inside a template hole apart from its end', () => {
    expect(shown('`${{ a: 1 }}b`')).toEqual([
      'template:',
      'punct:{',
      'punct:{',
      'word:a',
      'punct::',
      'number:1',
      'punct:}',
      'punct:}',
      'template:b',
    ]);
  });

  test.each([
    ['x = /[/"]}/g;', 'regex:/[/"]}/g'],
    ['return /a\\/b{/.test(c)', 'regex:/a\\/b{/'],
    ['if (a) /b{/.test(c)', 'regex:/b{/'],
    ['f(/a/, /b/)', 'regex:/a/'],
  ])('finds the regular expression in %s', (text, regex) => {
    expect(shown(text)).toContain(regex);
  });

  test.each(['a / b / c', '(a + b) / c / d', 'a[0] / b / c', '4 / 2 / 1'])(
    'finds no regular expression in %s',
    (text) => {
      expect(tokenize(text).filter(({ kind }) => kind === 'regex')).toEqual([]);
    },
  );

  test('counts lines through comments, strings and templates', () => {
    const text = '/*\n\n*/ a `\n${b}\n` c\n// d\ne';
    const lines = tokenize(text).filter(({ kind }) => kind === 'word');
    expect(lines.map((token) => [token.text, token.line])).toEqual([
      ['a', 3],
      ['b', 4],
      ['c', 5],
      ['e', 7],
    ]);
  });

  test('goes on after an unfinished string', () => {
    expect(shown("<p>don't</p>\nnext")).toContain('word:next');
  });

  test('passes over a first line for the shell', () => {
    expect(tokenize('#!/usr/bin/env node\na')).toEqual([{ kind: 'word', text: 'a', line: 2 }]);
  });
});

// Held against the real thing: what bash makes of a command line is among what we read in it.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { readShell } from './read-shell.ts';

const PLAIN = fc.constantFrom(
  'a',
  'b.c',
  '/x/y',
  '-o',
  '=',
  ':',
  ',',
  '%',
  '@',
  '+',
  'é',
  '~x',
  '!',
);
const PIECE = fc.oneof(
  { weight: 3, arbitrary: PLAIN },
  fc.constantFrom('"q w"', "'r s'", '"a\\"b"', "'a\"b'", '\\ ', '\\;', '\\\n', '"$A"', '"\\n"'),
  fc.constantFrom(
    "$'\\x41\\n\\'z'",
    "$'\\101\\u0042'",
    '$"t u"',
    '$A/',
    '${A}',
    '${B}',
    '${C:-d e}',
  ),
  fc.constantFrom('{a,b}', '{a,{b,c}}', '{1..3}', '{a..c}', '{x}', '{x', 'y}', '{,z}', '{03..1}'),
  fc.constantFrom('$(echo e)', '"$(echo "f g")"', '`echo h`', '"`echo \\"i\\"`"'),
);
const WORD = fc.array(PIECE, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));
const LINE = fc.record({
  a: fc.constantFrom('1', 'p.q', '"m n"', "'$B'"),
  b: fc.constantFrom('2', '$A', '"$A"x'),
  words: fc.array(WORD, { minLength: 1, maxLength: 5 }),
  around: fc.constantFrom('', ' &', '; true', ' # c', ' || true', ' 2>/dev/null', ' < /dev/null'),
});

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;

describe.skipIf(!hasBash)('every word that bash makes of a line', () => {
  it('is among the words of readShell, or readShell reports that some are missing', () => {
    fc.assert(
      fc.property(fc.array(LINE, { minLength: 20, maxLength: 20 }), (lines) => {
        const texts = lines.map(({ a, b, words, around }) => {
          return `A=${a}; B=${b}; printf '%s\\0' ${words.join(' ')}${around}\n`;
        });
        // One process for many lines, each in a shell of its own.
        const script = texts.map((text) => `( set -f; ${text}\nwait ); printf '\\1'`).join('\n');
        const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
        const outputs = stdout.split('\u0001');
        for (const [index, text] of texts.entries()) {
          const made = (outputs[index] ?? '').split('\0').filter((word) => word !== '');
          const { words, isWhole } = readShell(text);
          const read = new Set(words.flatMap((word) => word.texts));
          // Beyond the limits it is told that words are missing.
          const missing = isWhole ? made.filter((word) => !read.has(word)) : [];
          expect({ text, missing }).toEqual({ text, missing: [] });
        }
      }),
      runs(100),
    );
  });
});

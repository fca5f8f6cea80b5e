import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Format } from '../index.ts';
import { maskConfig } from './redacted-diff.ts';

const NAMES = new Set(['files']);

function mask(text: string, format: Format, shown: readonly (readonly [number, number])[] = []) {
  const ranges = shown.map(([start, end]) => ({ start, end }));
  return maskConfig(text, { format, shown: ranges, names: NAMES, redact: (one) => one });
}

describe('JSON', () => {
  test('keeps keys and the names of servers, and hides every other string', () => {
    const text = '{ "a": "x", "b": ["y", 1, true], "files": "files" } // say "z"\n';
    expect(mask(text, 'jsonc')).toBe('{ "a": "…", "b": ["…", 1, true], "files": "files" } // …\n');
  });

  test('shows the values that are to be shown', () => {
    const text = '{"command": "npx", "env": {"command": "secret"}}';
    const at = text.indexOf('"npx"');
    expect(mask(text, 'json', [[at, at + 5]])).toBe('{"command": "npx", "env": {"command": "…"}}');
  });

  test('is not misled by quotes and comments inside of each other', () => {
    expect(mask('{"a": "// no", /* "b": "c" */ "d": "\\"e: "}', 'jsonc')).toBe(
      '{"a": "…", /* … */ "d": "…"}',
    );
  });

  test('shows no value among the shown ones whose name says that it is secret', () => {
    const list = [
      '["npx", "--api-key", "S3CRET", "-e", "DB_PASS=S3CRET", "--key=S3CRET", //S3CRET',
    ];
    const text = `${list.join('')}\n "-p", "S3CRET", "plain", "-e", "MODE=S3CRET" /* S3CRET */]`;
    const shown = mask(text, 'jsonc', [[0, text.length]]);
    expect(shown).not.toContain('S3CRET');
    expect(shown).toBe(
      '["npx", "--api-key", "…", "-e", "DB_PASS=…", "--key=…", // …\n "-p", "…", "plain", "-e", "MODE=…" /* … */]',
    );
  });

  test('no value of any document is left, however it is written', () => {
    const secret = fc.stringMatching(/^[a-z]{3,12}$/).map((word) => `S3CRET-${word}`);
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        secret,
        fc.array(tie('node')),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('node')),
      ),
    })).node;
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2, '\t'), (document, indent) => {
        const text = JSON.stringify({ root: document }, null, indent);
        const shown = mask(text, 'json');
        expect(shown).not.toContain('S3CRET');
        // Whoever compares lines must find as many.
        expect(shown.split('\n')).toHaveLength(text.split('\n').length);
      }),
    );
  });
});

describe('TOML', () => {
  test('keeps keys and tables, and hides every string', () => {
    const text = `[mcp_servers.files]\ncommand = "a" # "b"\nenv = { K = 'c', "q" = "d" }\nn = 5\n`;
    expect(mask(text, 'toml')).toBe(
      `[mcp_servers.files]\ncommand = "…" # …\nenv = { K = "…", "q" = "…" }\nn = 5\n`,
    );
  });

  test('hides strings of many lines, and keeps their number', () => {
    const text = `a = """one\ntwo "quoted"\nthree"""\nb = '''x\ny'''\nc = 1\n`;
    const shown = mask(text, 'toml');
    for (const word of ['one', 'two', 'quoted', 'three', 'x', 'y'])
      expect(shown).not.toContain(word);
    expect(shown.split('\n')).toHaveLength(text.split('\n').length);
    expect(shown).toContain('c = 1');
  });
});

test('a long text takes no time that grows with its square', () => {
  const text = `{"a": "${'x'.repeat(2_000_000)}" ${'"'.repeat(200_000)}`;
  expect(mask(text, 'json')).not.toContain('xxx');
});

describe('what is very long', () => {
  const LENGTH = 9 * 1024 * 1024;
  const long = 'x'.repeat(LENGTH);
  const escaped = '\\n'.repeat(LENGTH / 2);

  test.each([
    ['json', `{"a": "${long}"}`, '{"a": "…"}'],
    ['json', `{"a": "${escaped}"}`, '{"a": "…"}'],
    ['jsonc', `{/* ${long} */}`, '{/* … */}'],
    ['toml', `a = "${long}"`, 'a = "…"'],
    ['toml', `a = "${escaped}"`, 'a = "…"'],
    ['toml', `a = """${long}"""`, 'a = "…"'],
    ['toml', `a = '''${long}'''`, 'a = "…"'],
  ] as const)('is hidden like everything else in %s', (format, text, shown) => {
    expect(mask(text, format) === shown).toBe(true);
    // Also among what changes: nobody reads it, and it may be anything.
    expect(mask(text, format, [[0, text.length]]) === shown).toBe(true);
  });
});

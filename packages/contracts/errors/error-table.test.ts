import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REASONS } from '../decision/reasons.ts';
import { ERROR_CODES, errorFix, errorTitle } from './error-table.ts';

const PAGE = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');

/** The sections of the page, by heading. */
const SECTIONS = new Map(
  PAGE.split(/^## /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end).trim(), section.slice(end)] as const;
    }),
);

describe('docs/reference/errors.md', () => {
  it('has a section for every code and for no other', () => {
    const documented = [...SECTIONS.keys()].filter((heading) => heading.startsWith('SUB_'));
    expect(documented).toEqual(ERROR_CODES);
    expect(PAGE.match(/^## SUB_/gm)).toHaveLength(ERROR_CODES.length);
  });

  it.each(ERROR_CODES)('gives the title of the table, a cause and a fix for %s', (code) => {
    const section = SECTIONS.get(code) ?? '';
    const part = (pattern: RegExp) => pattern.exec(section)?.[1];
    expect(part(/^\*\*(.+)\*\*$/m)).toBe(errorTitle(code));
    const fix = part(/^Fix: (.+)$/m);
    for (const text of [errorTitle(code), part(/^Cause: (.+)$/m), fix]) {
      expect(text).toMatch(/^[`A-Z].*\.$/);
    }
    // Some fixes are in the table as well, because the daemon sends them.
    const known = errorFix(code);
    expect([fix, `See ${code} in docs/reference/errors.md.`]).toContain(known);
  });

  it('lists every reason and no other', () => {
    const rows = SECTIONS.get('Reasons')?.matchAll(/^\| `(\w+)` \| (.+) \|$/gm) ?? [];
    expect(Object.fromEntries([...rows].map(([, code, text]) => [code, text]))).toEqual(REASONS);
  });
});

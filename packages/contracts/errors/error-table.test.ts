import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { REASONS } from '../decision/reasons.ts';
import { ERROR_CODES, errorEntry } from './error-table.ts';

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

  it.each(ERROR_CODES)('says of %s what the table says', (code) => {
    const { title, cause, fix } = errorEntry(code);
    const section = SECTIONS.get(code);
    expect(section).toContain(`**${title}**`);
    expect(section).toContain(`Cause: ${cause}\n`);
    expect(section).toContain(`Fix: ${fix}\n`);
  });

  it('lists every reason and no other', () => {
    const rows = SECTIONS.get('Reasons')?.matchAll(/^\| `(\w+)` \| (.+) \|$/gm) ?? [];
    expect(Object.fromEntries([...rows].map(([, code, text]) => [code, text]))).toEqual(REASONS);
  });
});

describe('the table of errors', () => {
  it.each(ERROR_CODES)('tells of %s in whole sentences', (code) => {
    const { title, cause, fix } = errorEntry(code);
    for (const text of [title, cause, fix]) expect(text).toMatch(/^[`A-Z].*\.$/);
  });
});

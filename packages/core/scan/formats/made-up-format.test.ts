import { Buffer } from 'node:buffer';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type * as Detect from '../detect/index.ts';
import type { Redactor } from '../redact/index.ts';
import type { Rule } from '../types.ts';
import { type Token, tokenRule } from './pattern.ts';

/** A format that only this test knows. */
const ACME: Token = { name: 'acme-token', prefixes: ['acme_'], chars: '[a-z0-9]', lengthMin: 20 };
const SECRET = 'acme_7f3k9x2m5q8w1z4v6b0n';
const TEXT = `the answer is ${SECRET}, as you know`;
const fingerprint = () => 'a1b2c3';

let detect: typeof Detect;
let rules: readonly string[];
let redactor: Redactor;

beforeAll(async () => {
  // Everything that reads the table is loaded anew, after the one line of the registry.
  vi.resetModules();
  const { FORMATS } = await import('./index.ts');
  (FORMATS as Rule[]).push(tokenRule(ACME));
  detect = await import('../detect/index.ts');
  ({ SECRET_RULES: rules } = await import('../detect/secrets.ts'));
  const { createRedactor } = await import('../redact/index.ts');
  redactor = createRedactor({});
});

afterAll(() => vi.resetModules());

describe('a format in the table', () => {
  it('is found by the scanner, in text, in JSON and in the definition of a tool', () => {
    const rule = { class: 'secret', rule: 'acme-token', confidence: 'certain' };
    const start = TEXT.indexOf(SECRET);
    const place = { start, end: start + SECRET.length };
    const tool = { name: 'ask', description: TEXT };
    expect(detect.scanText(TEXT, { fingerprint }).findings).toMatchObject([{ ...rule, ...place }]);
    expect(detect.scanJson({ note: TEXT }, { fingerprint }).findings).toMatchObject([
      { ...rule, ...place, path: '$.note' },
    ]);
    expect(detect.scanToolDefinition(tool, { fingerprint }).findings).toMatchObject([
      { ...rule, ...place, path: '$.description' },
    ]);
  });

  it('is redacted, also where a text is cut in the middle of it', () => {
    const shown = 'the answer is [REDACTED:acme-token]';
    expect(redactor.redact(TEXT)).toEqual({
      text: `${shown}, as you know`,
      found: ['acme-token'],
    });
    const cut = TEXT.slice(0, TEXT.indexOf(SECRET) + 12);
    expect(redactor.plain(cut, { truncated: true })).toBe(shown);
    expect(redactor.plain(cut)).toBe(cut);
  });

  it('is seen by the gate that lets clean bytes pass without decoding', () => {
    const bytes = Buffer.from(TEXT);
    expect(redactor.isClean(bytes, 0, bytes.length)).toBe(false);
    expect(redactor.isClean(bytes, 0, TEXT.indexOf(SECRET))).toBe(true);
  });

  it('is listed among the rules, so that a suppression may name it', () => {
    expect(rules).toContain('acme-token');
    const suppression = {
      rule: 'acme-token',
      server: 'notes',
      tool: 'ask',
      fingerprint: 'a1b2c3',
      expires: '2030-01-31T00:00:00Z',
    };
    expect(detect.readSuppression(suppression)).toEqual({ kind: 'suppression', suppression });
    const verdict = detect.scanText(TEXT, { fingerprint });
    const place = { server: 'notes', tool: 'ask', nowMs: 0 };
    expect(detect.suppress(verdict, [suppression], place).verdict.findings).toEqual([]);
  });
});

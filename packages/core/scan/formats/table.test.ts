import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { SECRETS } from '../../../../test/corpora/index.ts';
import { scanJson, scanText } from '../detect/index.ts';
import { createRedactor } from '../redact/redactor.ts';
import { FORMATS } from './index.ts';
import { formatSamples } from './samples.test-support.ts';

const SAMPLES = formatSamples();
const { plain, isClean } = createRedactor({});
const withValue = createRedactor({ values: [{ name: 'other', value: 'Qx7vNb2mKs9d' }] });
const fingerprint = (text: string) => text.slice(0, 8);
const named = SAMPLES.map((sample) => [`${sample.rule} ${sample.index}`, sample] as const);

describe('the table of secret formats', () => {
  it('has a sample for every format', () => {
    const seen = new Set(SAMPLES.map(({ index }) => index));
    expect(FORMATS.map((_, index) => index).filter((index) => !seen.has(index))).toEqual([]);
    expect(new Set(SAMPLES.map(({ rule }) => rule)).size).toBeGreaterThan(90);
  });

  it.each(named)('is what the scanner finds by: %s', (_, { text, secret }) => {
    const { findings } = scanText(text, { fingerprint, classes: ['secret'] });
    const start = text.indexOf(secret);
    const covering = findings.filter(
      (one) => one.start <= start && one.end >= start + secret.length && one.class === 'secret',
    );
    expect(covering).not.toEqual([]);
  });

  it.each(named)('is what the redactor redacts by: %s', (_, { text, secret }) => {
    const neutral = JSON.stringify({ note: text, list: [text] });
    const nested = JSON.stringify({ body: neutral });
    // Formats allow for escapes of their own, but not for any number of them.
    const deep = text.includes('\\') ? [] : [nested];
    for (const shown of [text, neutral, ...deep, `\n${text}\n`, `${text},${text}`]) {
      for (const truncated of [true, false]) {
        expect(plain(shown, { truncated })).not.toContain(secret);
        expect(withValue.plain(shown, { truncated })).not.toContain(secret);
      }
      const bytes = Buffer.from(shown);
      expect(isClean(bytes, 0, bytes.length)).toBe(false);
    }
    expect(JSON.parse(plain(neutral))).toHaveProperty('note');
    expect(JSON.parse(plain(nested))).toHaveProperty('body');
  });

  it.each(named)('is what a tool name or a key is redacted by: %s', (_, { text, secret }) => {
    expect(plain(text)).not.toContain(secret);
    expect(plain(JSON.stringify({ [text]: 1 }))).not.toContain(secret);
  });
});

describe('what the scanner calls a secret in the corpora', () => {
  const cases = SECRETS.attacks.map((one) => [one.id, one] as const);
  it.each(cases)('is redacted as well: %s', (_, { as, value }) => {
    const options = { fingerprint, classes: ['secret'] } as const;
    const { findings } =
      as === 'text' ? scanText(String(value), options) : scanJson(value, options);
    const shown = plain(typeof value === 'string' ? value : JSON.stringify(value));
    // What is split over several places, and what is only drawn by lot, has no format.
    const known = findings.filter(
      ({ part, rule }) => part === undefined && rule !== 'high-entropy',
    );
    const missed = known.filter(({ start, end, path }) => {
      const isShown = path === null && shown.includes(String(value).slice(start, end));
      return isShown || !shown.includes('[REDACTED:');
    });
    expect(missed).toEqual([]);
  });
});

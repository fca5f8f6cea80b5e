import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256 } from './hash.ts';

describe('sha256', () => {
  it('gives the published digest of a known text', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('hashes the UTF-8 bytes', () => {
    const text = 'é治😀'.repeat(10_000);
    const bytes = Buffer.from(text, 'utf8');
    expect(sha256(text)).toBe(createHash('sha256').update(bytes).digest('hex'));
  });
});

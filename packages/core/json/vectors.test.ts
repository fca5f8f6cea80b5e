import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { argsHash } from './args-hash.ts';
import { canonicalize } from './index.ts';

interface Accepted {
  name: string;
  input: string;
  canonical: string;
  sha256: string;
}

interface Refused {
  name: string;
  input: string;
  error: string;
}

function isVectorFile(value: unknown): value is { vectors: (Accepted | Refused)[] } {
  return typeof value === 'object' && value !== null && 'vectors' in value;
}

function readVectors(): (Accepted | Refused)[] {
  const url = new URL('../../../test/vectors/canon.json', import.meta.url);
  const file: unknown = JSON.parse(readFileSync(url, 'utf8'));
  if (!isVectorFile(file)) throw new TypeError('canon.json holds no vectors');
  return file.vectors;
}

const vectors = readVectors();
const accepted = vectors.filter((vector) => 'canonical' in vector);
const refused = vectors.filter((vector) => 'error' in vector);

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

describe('published vectors', () => {
  it('are either accepted or refused, each under its own name', () => {
    expect(accepted.length + refused.length).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThanOrEqual(60);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  });

  it.each(accepted)('accept $name', (vector) => {
    verifies('IP-1.9', 'IP-1.9.1');
    const { input, canonical } = vector;
    expect(canonicalize(input)).toEqual({ ok: true, canonical });
    expect(sha256(canonical)).toBe(vector.sha256);
    // Only objects can be arguments.
    const hashed = canonical.startsWith('{')
      ? { ok: true, hash: vector.sha256, canonical }
      : { ok: false, code: 'SUB_CANON_NOT_OBJECT' };
    expect(argsHash(input, sha256)).toMatchObject(hashed);
  });

  it.each(refused)('refuse $name', ({ input, error }) => {
    verifies('IP-1.9.1');
    expect(canonicalize(input)).toMatchObject({ ok: false, code: error });
    expect(argsHash(input, sha256)).toMatchObject({ ok: false, code: error });
  });
});

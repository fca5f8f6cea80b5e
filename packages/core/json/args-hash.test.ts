import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { argsHash, EMPTY_ARGS } from './args-hash.ts';

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

describe('argsHash', () => {
  it('is one for two key orders', () => {
    verifies('IP-6.1');
    const first = argsHash('{"path":"/etc/hosts","limit":10}', sha256);
    const second = argsHash('{ "limit": 1e1, "path": "\\/etc\\/hosts" }', sha256);
    expect(first).toEqual(second);
    expect(first).toMatchObject({ ok: true, canonical: '{"limit":10,"path":"/etc/hosts"}' });
  });

  it('is SHA-256 over the UTF-8 bytes of the canonical text, in lowercase hex', () => {
    verifies('IP-1.9.1');
    const canonical = '{"é":"😀"}';
    const hash = createHash('sha256').update(Buffer.from(canonical, 'utf8')).digest('hex');
    expect(argsHash('{"\\u00e9":"\\ud83d\\ude00"}', sha256)).toEqual({ ok: true, hash, canonical });
  });

  it('distinguishes large integers', () => {
    const first = argsHash('{"id":9007199254740992}', sha256);
    const second = argsHash('{"id":9007199254740993}', sha256);
    expect(first).not.toEqual(second);
  });

  it('takes absent arguments for an empty object', () => {
    expect(argsHash(undefined, sha256)).toEqual(argsHash(EMPTY_ARGS, sha256));
    expect(argsHash(undefined, sha256)).toMatchObject({ canonical: '{}' });
  });

  it.each([' null', '[]', '"{}"', '1', 'true'])('refuses %j, which is no object', (text) => {
    expect(argsHash(text, sha256)).toMatchObject({
      ok: false,
      code: 'SUB_CANON_NOT_OBJECT',
      offset: text.length - text.trimStart().length,
    });
  });

  it('passes on the fault of the text', () => {
    const failure = { ok: false, code: 'SUB_CANON_DUPLICATE_KEY', offset: 7 };
    expect(argsHash('{"a":1,"a":2}', sha256)).toMatchObject(failure);
  });
});

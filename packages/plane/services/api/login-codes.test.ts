import { describe, expect, it } from 'vitest';
import { CODE_LIFE_MS, LoginCodes } from './login-codes.ts';

describe('the code of a login link', () => {
  it('works once, for the role that it was made for', () => {
    const codes = new LoginCodes(() => 0);
    const { code } = codes.issue('viewer');
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(codes.redeem(`${code}x`)).toBeUndefined();
    expect(codes.redeem(code)).toBe('viewer');
    expect(codes.redeem(code)).toBeUndefined();
  });

  it('works for two minutes', () => {
    let nowMs = 1_000;
    const codes = new LoginCodes(() => nowMs);
    const [early, late] = [codes.issue('owner'), codes.issue('owner')];
    expect(early.expiresAtMs).toBe(1_000 + CODE_LIFE_MS);
    nowMs += CODE_LIFE_MS - 1;
    expect(codes.redeem(early.code)).toBe('owner');
    nowMs += 1;
    expect(codes.redeem(late.code)).toBeUndefined();
  });

  it('takes the place of the oldest when there are sixteen', () => {
    const codes = new LoginCodes(() => 0);
    const made = Array.from({ length: 17 }, () => codes.issue('owner').code);
    expect(made.map((code) => codes.redeem(code) !== undefined)).toEqual([
      false,
      ...Array.from({ length: 16 }, () => true),
    ]);
  });
});

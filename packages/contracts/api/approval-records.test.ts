import { describe, expect, it } from 'vitest';
import { parseApproval, parseApprovalEnd, parseGrant, parseGrantEnd } from './approval-records.ts';

const HASH = 'a'.repeat(64);
const AT = '2026-01-31T12:00:00Z';
const ID = '01890000-0000-7000-8000-000000000000';
const GRANT = {
  v: 1,
  id: ID,
  kind: 'always',
  created_at: AT,
  expires_at: null,
  by: 'ann',
  channel: 'terminal',
  request: ID,
  match: {
    server: 'files',
    tool: 'write_file',
    rule_id: 'ask',
    agent_id: 'coder',
    env: 'dev',
    principal: null,
    run_id: null,
    policy_hash: null,
    args: { kind: 'any' },
  },
};

function withArgs(args: unknown) {
  return { ...GRANT, match: { ...GRANT.match, args } };
}

describe('a grant', () => {
  it('is read in every form that arguments may have', () => {
    const names = {
      a: { is: 'equal', value: null },
      b: { is: 'like', glob: '*' },
      c: { is: 'any' },
    };
    for (const args of [
      { kind: 'any' },
      { kind: 'exact', args_hash: HASH },
      { kind: 'pattern', names },
    ]) {
      expect(parseGrant(withArgs(args))).toMatchObject({ ok: true });
    }
  });

  it.each([
    ['a field that nobody knows', { ...GRANT, wider: true }],
    ['no match', { ...GRANT, match: undefined }],
    ['no server', { ...GRANT, match: { ...GRANT.match, server: undefined } }],
    ['a run that is left open', { ...GRANT, match: { ...GRANT.match, run_id: undefined } }],
    ['arguments of another kind', withArgs({ kind: 'most' })],
    ['arguments of no kind', withArgs({})],
    ['a limit of no kind', withArgs({ kind: 'pattern', names: { a: {} } })],
    ['no expiry at all', { ...GRANT, expires_at: undefined }],
    ['another version', { ...GRANT, v: 2 }],
  ])('with %s is refused', (_what, grant) => {
    expect(parseGrant(grant).ok).toBe(false);
  });

  it('names a bounded number of arguments', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, { is: 'any' }]));
    expect(parseGrant(withArgs({ kind: 'pattern', names: many(256) })).ok).toBe(true);
    expect(parseGrant(withArgs({ kind: 'pattern', names: many(257) })).ok).toBe(false);
  });
});

describe('an end', () => {
  const end = { v: 1, id: ID, at: AT, by: 'ann' };

  it('of a request says which request it ends', () => {
    const whole = { ...end, request_sha256: HASH, state: 'approved', channel: 'terminal' };
    expect(parseApprovalEnd(whole).ok).toBe(true);
    expect(parseApprovalEnd({ ...whole, request_sha256: undefined }).ok).toBe(false);
    expect(parseApprovalEnd({ ...whole, state: 'pending' }).ok).toBe(false);
  });

  it('of a grant is that it was used or revoked', () => {
    expect(parseGrantEnd({ ...end, state: 'used', call_id: 'call-1' }).ok).toBe(true);
    expect(parseGrantEnd({ ...end, state: 'active' }).ok).toBe(false);
  });
});

describe('a request', () => {
  it('is nothing without its call', () => {
    expect(parseApproval({ v: 1, id: ID, created_at: AT, expires_at: AT, wait: 'hold' }).ok).toBe(
      false,
    );
    expect(parseApproval(null).ok).toBe(false);
  });
});

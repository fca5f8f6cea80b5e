import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCedar } from './load-policies.ts';
import { opened, request } from './testing/requests.ts';
import type { Cedar, CedarRequest } from './types.ts';

const FOLDER = fileURLToPath(new URL('../../../../examples/cedar', import.meta.url));
let cedar: Cedar;
beforeAll(async () => {
  cedar = opened(await loadCedar({ policies: FOLDER }));
});
afterAll(() => cedar.close());

const READER = { principal: { kind: 'agent', id: 'reviewer' } } as const;
const PUSH = { server: 'git', tool: 'push' };
const TRANSFER = { server: 'bank', tool: 'transfer' };
const NIGHT = { env: 'prod', nowMs: Date.UTC(2026, 10, 3, 3) };

describe('the policies of examples/cedar', () => {
  it.each<[string, Partial<CedarRequest>, readonly string[]]>([
    ['a read', { args: { path: '/project/a.txt' } }, ['everyone']],
    ['a push', { ...PUSH, args: { branch: 'x' } }, ['everyone']],
    ['a push that says it is not forced', { ...PUSH, args: { force: false } }, ['everyone']],
    ['a small transfer', { ...TRANSFER, args: { amount: 99.5 } }, ['everyone']],
    ['a small whole transfer', { ...TRANSFER, args: { amount: 100 } }, ['everyone']],
    ['a reader that reads', { ...READER, risk: ['read'] }, ['everyone']],
    ['another that writes', { risk: ['write'] }, ['everyone']],
    ['a write to production by day', { env: 'prod', risk: ['write'] }, ['everyone']],
    ['a read of production by night', NIGHT, ['everyone']],
    ['another address', { args: { url: 'https://docs.example' } }, ['everyone']],
  ])('permit %s', (_name, changes, reasons) => {
    expect(cedar.evaluate(request(changes))).toMatchObject({
      decision: 'allow',
      cause: 'permit',
      reasons,
    });
  });

  it.each<[string, Partial<CedarRequest>, string]>([
    ['a forced push', { ...PUSH, args: { force: true } }, 'no-force-push'],
    ['a file of the system', { args: { path: '/etc/shadow' } }, 'system-files'],
    ['a way out', { args: { path: '/project/../etc/x' } }, 'system-files'],
    ['the metadata service', { args: { url: 'http://169.254.169.254/x' } }, 'no-metadata-service'],
    ['a reader that writes', { ...READER, risk: ['write'] }, 'readers-read'],
    ['a large transfer', { ...TRANSFER, args: { amount: 100.01 } }, 'small-transfers'],
    ['a transfer of nothing said', { ...TRANSFER, args: {} }, 'small-transfers'],
    ['a write to production by night', { ...NIGHT, risk: ['write'] }, 'production-hours'],
  ])('forbid %s', (_name, changes, id) => {
    const answer = cedar.evaluate(request(changes));
    expect(answer).toMatchObject({ decision: 'deny', cause: 'forbid', reasons: [id] });
    expect(answer.message).toMatch(/^[A-Z].*\.$/);
  });

  it.each<[string, Partial<CedarRequest>]>([
    ['a flag that is a word', { ...PUSH, args: { force: 'true' } }],
    ['a path that is a list', { args: { path: ['/etc/shadow'] } }],
    ['an amount with too many digits', { ...TRANSFER, args: { amount: 1.000_01 } }],
    ['an amount that is text', { ...TRANSFER, args: { amount: '1' } }],
  ])('deny what they cannot judge: %s', (_name, changes) => {
    expect(cedar.evaluate(request(changes))).toMatchObject({
      decision: 'deny',
      cause: 'forbid_failed',
    });
  });

  it('give hints for the model', () => {
    expect(cedar.evaluate(request({ ...PUSH, args: { force: true } }))).toMatchObject({
      message: 'Force pushes are not allowed.',
      hint: 'Push to a new branch and open a pull request.',
      reasonCode: 'NO_FORCE_PUSH',
    });
  });

  it('are explained with the permit that was outvoted', () => {
    const explanation = cedar.explain(request({ args: { path: '/etc/shadow' } }));
    expect(explanation.deciding).toMatchObject([
      { id: 'system-files', effect: 'forbid', position: { line: 8, column: 1 } },
    ]);
    expect(explanation.satisfied.map(({ id }) => id)).toEqual(['everyone', 'system-files']);
    expect(explanation).toMatchObject({ policyCount: 7, hash: cedar.hash });
    expect(explanation.deciding[0]?.file).toMatch(/guards\.cedar$/);
  });
});

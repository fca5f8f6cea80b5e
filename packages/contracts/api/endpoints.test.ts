import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ApiEndpoint } from './define-endpoint.ts';
import { API_ENDPOINTS } from './endpoints.ts';

const PAGE = readFileSync(new URL('../../../docs/reference/http-api.md', import.meta.url), 'utf8');
const ENDPOINTS: readonly ApiEndpoint[] = Object.values(API_ENDPOINTS);

describe('docs/reference/http-api.md', () => {
  it.each(ENDPOINTS.map((endpoint) => [endpoint.path, endpoint] as const))(
    'has the parameters of %s, and no other',
    (path, { query }) => {
      const row = PAGE.split('\n').find((line) => line.startsWith(`| \`${path}\` |`));
      const names = [...(row?.split('|')[2]?.matchAll(/`(\w+)`/g) ?? [])].map(([, name]) => name);
      expect(row).toBeDefined();
      expect(new Set(names)).toEqual(new Set(Object.keys(query.shape.fields)));
    },
  );
});

describe('the parameters of the API', () => {
  it('are closed: a misspelt filter must not show everything', () => {
    const { ingest, activity, stewardUpdates, stewardChange } = API_ENDPOINTS;
    const needs = new Map<string, object>([
      [ingest.path, { producer: 'p', seq: 0 }],
      [activity.path, { run_ids: ['r'] }],
      [stewardUpdates.path, { conversation_id: 'c', after: 0 }],
      [stewardChange.path, { id: 'change-1' }],
    ]);
    for (const { path, query } of ENDPOINTS) {
      const needed = needs.get(path) ?? {};
      expect(query.parse(needed).ok, path).toBe(true);
      expect(query.parse({ ...needed, nothing: 1 }).ok, path).toBe(false);
    }
  });

  it('are closed in what is sent along, too', () => {
    const seen = { request_sha256: 'a'.repeat(64) };
    const { approve, reject, revoke } = API_ENDPOINTS;
    for (const { path, input } of [approve, reject, revoke]) {
      const body = path === revoke.path ? {} : seen;
      expect(input.parse(body).ok, path).toBe(true);
      expect(input.parse({ ...body, by: 'root' }).ok, path).toBe(false);
    }
    const args = { kind: 'exact' };
    for (const grant of [
      { kind: 'once' },
      { kind: 'run', args },
      { kind: 'minutes', minutes: 30, args },
      { kind: 'always', args: { kind: 'pattern', like: { path: 'src/*' }, free: ['x'] } },
    ]) {
      expect(approve.input.parse({ ...seen, grant }).ok, grant.kind).toBe(true);
    }
    for (const grant of [
      { kind: 'run' },
      { kind: 'minutes', minutes: 0, args },
      { kind: 'ever' },
    ]) {
      expect(approve.input.parse({ ...seen, grant }).ok, grant.kind).toBe(false);
    }
    expect(approve.input.parse({}).ok).toBe(false);
  });

  it('are read as their shapes say', () => {
    const { calls, stream } = API_ENDPOINTS;
    expect(calls.query.parse({ decision: 'REFUSED', status: 'PENDING', limit: 1_000 }).ok).toBe(
      true,
    );
    expect(calls.query.parse({ limit: 1_001 }).ok).toBe(false);
    expect(calls.query.parse({ args_hash: 'x' }).ok).toBe(false);
    expect(stream.query.parse({ after: 0, decision: 'BLOCK' }).ok).toBe(true);
    expect(stream.query.parse({ after: -1 }).ok).toBe(false);
    const { query } = API_ENDPOINTS.ingest;
    for (const wrong of [{}, { producer: 'p' }, { seq: 1 }, { producer: '', seq: 1 }]) {
      expect(query.parse(wrong).ok).toBe(false);
    }
  });
});

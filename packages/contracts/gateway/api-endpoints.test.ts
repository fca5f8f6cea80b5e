import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GATEWAY_ENDPOINTS, type GatewayEndpoint } from './api-endpoints.ts';

const FILE = new URL('../../../docs/reference/gateway-api.md', import.meta.url);
const LINES = readFileSync(FILE, 'utf8').split('\n');
const ENDPOINTS = Object.values<GatewayEndpoint>(GATEWAY_ENDPOINTS).map(
  (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const,
);

describe('docs/reference/gateway-api.md', () => {
  it.each(ENDPOINTS)('has the role and the parameters of %s, and no other', (name, endpoint) => {
    const row = LINES.find((line) => line.startsWith(`| \`${name}\` |`));
    const [, , role = '', parameters = ''] = row?.split('|') ?? [];
    const names = [...parameters.matchAll(/`(\w+)`/g)].map(([, found]) => found);
    const { query, input } = endpoint;
    const fields = { ...query.shape.fields, ...input?.shape.fields };
    expect(role.trim()).toBe(endpoint.role);
    expect(new Set(names)).toEqual(new Set(Object.keys(fields)));
  });

  it('has no path that is gone', () => {
    const told = LINES.flatMap((line) => /^\| `((?:GET|POST|DELETE) [^`]+)`/.exec(line)?.[1] ?? []);
    expect(told.toSorted()).toEqual(ENDPOINTS.map(([name]) => name).toSorted());
  });
});

describe('the endpoints of the gateway', () => {
  it.each(ENDPOINTS)('take nothing that they do not know: %s', (_, { query, input }) => {
    expect(query.shape.closed).toBe(true);
    expect(query.parse({ nothing: 1 }).ok).toBe(false);
    expect(input?.shape.closed ?? true).toBe(true);
  });
});

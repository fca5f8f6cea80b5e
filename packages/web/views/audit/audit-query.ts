// The filters of the address as a question to the gateway.
import type { GatewayQueryOf } from '@subluminal/contracts';
import { GATEWAY_PATHS } from '../../api/endpoint-paths.ts';

export type AuditQuery = Pick<
  GatewayQueryOf<'auditSearch'>,
  'trace_id' | 'user_id' | 'team_id' | 'repo_id' | 'event_type' | 'from' | 'to'
>;

/** The names in the address, and those of the question. */
export const AUDIT_FILTERS = {
  type: 'event_type',
  user: 'user_id',
  team: 'team_id',
  repo: 'repo_id',
  trace: 'trace_id',
  from: 'from',
  to: 'to',
} as const satisfies { readonly [name: string]: keyof AuditQuery };

export function auditQuery(params: Readonly<Record<string, string>>): AuditQuery {
  const given = Object.entries(AUDIT_FILTERS).flatMap(([name, field]) => {
    const value = params[name]?.trim() ?? '';
    return value === '' ? [] : [[field, value] as const];
  });
  return Object.fromEntries(given);
}

/** The same question in a terminal; every value is percent-encoded, so that it is one word. */
export function auditCommand(origin: string, query: AuditQuery): string {
  const text = new URLSearchParams(Object.entries(query)).toString().replaceAll("'", '%27');
  const target = `${origin}${GATEWAY_PATHS.auditSearch.path}${text === '' ? '' : `?${text}`}`;
  return `curl -s -H "Authorization: Bearer $KEY" '${target}'`;
}

// Whether a policy is for this agent at all.
import type { Selectors } from '@subluminal/contracts';
import { isJsonObject, own } from '../compile/match.ts';
import type { Identity } from '../types.ts';

/** Omitted selectors match all; lists are alternatives; all given selectors must match. */
export function selects(selectors: Selectors, identity: Identity): boolean {
  const { env, agent_id, client, workload } = selectors;
  if (env && !env.includes(identity.env)) return false;
  if (agent_id && !agent_id.includes(identity.agent_id)) return false;
  if (client && !client.includes(identity.client)) return false;
  return workload === undefined || selectsWorkload(workload, identity);
}

function selectsWorkload(wanted: NonNullable<Selectors['workload']>, identity: Identity): boolean {
  const actual = identity.workload ?? {};
  const { namespace, service_account, repo, branch, labels } = wanted;
  const lists = { namespace, service_account, repo, branch };
  for (const [field, values] of Object.entries(lists)) {
    if (values === undefined) continue;
    const value = own(actual, field);
    if (typeof value !== 'string' || !values.includes(value)) return false;
  }
  const given = own(actual, 'labels');
  const actualLabels = isJsonObject(given) ? given : {};
  return Object.entries(labels ?? {}).every(([key, value]) => own(actualLabels, key) === value);
}

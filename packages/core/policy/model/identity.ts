import { definedFields, type Producer } from '@subluminal/contracts';

/** The identity of an agent as policies know it, from its producer or from an event. */
export function identityOf({
  run_id,
  agent_id,
  client,
  env,
  principal,
  workload,
}: Omit<Producer, 'source'>) {
  const optional = { principal, workload: workload && { ...workload } };
  return { run_id, agent_id, client, env, ...definedFields(optional) };
}

// A grant in words, exactly as it will match. The words hold text of others: not harmless yet.
import type { ArgLimit, Grant } from '@subluminal/contracts';

/** Sentences; together they say all that is compared. */
export function grantWords({ kind, match, expires_at }: Grant): readonly string[] {
  const { server, tool, rule_id, agent_id, env, principal, run_id, policy_hash } = match;
  const starter =
    principal === null ? 'started by nobody that is named' : `started by ${principal}`;
  const run = run_id === null ? 'in any run' : `in the run ${run_id} only`;
  const policy = policy_hash === null ? '' : `, under the policy ${policy_hash.slice(0, 12)} only`;
  return [
    `The tool ${tool} of the server ${server}, where the rule ${rule_id} asks${policy}.`,
    `By the agent ${agent_id} (${env}), ${starter}, ${run}.`,
    ...argsWords(match.args),
    timeWords(kind, expires_at),
  ];
}

function argsWords(args: Grant['match']['args']): readonly string[] {
  switch (args.kind) {
    case 'any':
      return ['With any arguments.'];
    case 'exact':
      return [`With exactly the arguments that were shown (hash ${args.args_hash.slice(0, 12)}).`];
    case 'pattern': {
      const names = Object.entries(args.names);
      if (names.length === 0) return ['Without arguments.'];
      return [
        'With these arguments and no others:',
        ...names.map(([name, limit]) => `  ${name} ${limitWords(limit)}.`),
      ];
    }
  }
}

function limitWords(limit: ArgLimit): string {
  switch (limit.is) {
    case 'any':
      return 'is anything, or is not there';
    case 'equal':
      return `is ${JSON.stringify(limit.value)}`;
    case 'like':
      return `is a text like ${limit.glob}, with no step up (..) in it`;
  }
}

function timeWords(kind: Grant['kind'], expires_at: string | null): string {
  const until = expires_at === null ? 'until it is revoked' : `until ${expires_at}`;
  return kind === 'once' ? `Once, ${until}.` : `As often as it is called, ${until}.`;
}

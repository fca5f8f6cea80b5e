// What a run says to its shims by the environment, or by a file where the environment is lost.
import { SETTINGS } from '../config/index.ts';
import { HOOKS_SOCKET_VAR } from './hooks-socket.ts';

/** Where the policy that the run began with is kept, and the hash that it has. */
export const POLICY_COPY_VAR = 'SUB_RUN_POLICY';
export const POLICY_COPY_HASH_VAR = 'SUB_RUN_POLICY_HASH';

/**
 * The policy of the project, where the run has one that it has found: the same path as `SUB_POLICY` when
 * it holds alone, another one when it only tightens that. A policy under this name never loosens.
 */
export const PROJECT_POLICY_VAR = 'SUB_PROJECT_POLICY';

/** Every setting, and what the host of a run says; whatever else is called SUB_* may be a secret. */
export const RUN_ENV_VARS: readonly string[] = [
  'SUB_HOME',
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_ENV',
  'SUB_CLIENT',
  'SUB_PRINCIPAL',
  'SUB_RUN_HOSTED',
  'SUB_GOVERNANCE_ENDPOINT',
  POLICY_COPY_VAR,
  POLICY_COPY_HASH_VAR,
  PROJECT_POLICY_VAR,
  HOOKS_SOCKET_VAR,
  ...Object.values(SETTINGS).map(({ env }) => env),
];

/** The secret of a hub that listens on TCP; only in an environment, or in a private file. */
export const TOKEN_VAR = 'SUB_GOVERNANCE_TOKEN';

export type RunEnv = { readonly [name: string]: string | undefined };

const KEPT: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);

/** The variables of a run that are set; whatever else an environment or a file holds is left out. */
export function runVariables(env: { readonly [name: string]: unknown }): RunEnv {
  const set = Object.entries(env).filter(([name, word]) => KEPT.has(name) && word !== '');
  return Object.fromEntries(
    set.flatMap(([name, word]) => (typeof word === 'string' ? [[name, word]] : [])),
  );
}

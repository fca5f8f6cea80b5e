// What a run says to its shims by the environment, or by a file where the environment is lost.
import { SETTINGS } from '../../config/index.ts';

/** Where the policy that the run began with is kept, and the hash that it has. */
const COPY_NAME = 'SUB_RUN_POLICY';
const COPY_HASH_NAME = 'SUB_RUN_POLICY_HASH';

/** Every setting, and what the host of a run says; whatever else is called SUB_* may be a secret. */
const TOLD_NAMES: readonly string[] = [
  'SUB_HOME',
  'SUB_RUN_ID',
  'SUB_AGENT_ID',
  'SUB_ENV',
  'SUB_CLIENT',
  'SUB_PRINCIPAL',
  'SUB_RUN_HOSTED',
  'SUB_GOVERNANCE_ENDPOINT',
  COPY_NAME,
  COPY_HASH_NAME,
  ...Object.values(SETTINGS).map(({ env }) => env),
];

/** The secret of a hub that listens on TCP; only in an environment, or in a private file. */
const TOKEN_NAME = 'SUB_GOVERNANCE_TOKEN';

export { COPY_HASH_NAME, COPY_NAME, TOKEN_NAME, TOLD_NAMES };

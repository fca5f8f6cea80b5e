// Which policies of projects the user has trusted.
import { createCommand, flag, type Input, maybe } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const BAD_STORE =
  'wrong flags, nobody to ask, no such policy, or a file that cannot be read or written';
const jsonFlag = flag('print one JSON document instead of text');
const file = maybe('the policy; without it, the one of the project that is found from here');

const ADD_ARGS = { file };
const ADD_OPTIONS = { yes: flag('do not ask'), json: jsonFlag };

const add = createCommand({
  path: ['trust', 'add'],
  summary: 'trust the policy of a project',
  description:
    'Until it is trusted, the policy of a project only tightens your own: both are applied, and the stricter decision wins. Shows what it lets pass that your own does not, asks, and remembers its path and the hash of its content: from then on it holds instead of yours. Once it changes, it is not trusted any more. `sub trust` alone does the same.',
  args: ADD_ARGS,
  options: ADD_OPTIONS,
  examples: ['sub trust', 'sub trust policy.yaml', 'sub trust add policy.yaml --yes'],
  exitCodes: {
    0: 'it is trusted',
    1: 'it is not: you said no, or the policy has errors',
    2: `${BAD_STORE}; or started by an agent`,
    70: INTERNAL,
  },
  requires: 'person',
  load: () => import('../commands/trust-add.ts'),
});

const LIST_ARGS = {};
const LIST_OPTIONS = { json: jsonFlag };

const list = createCommand({
  path: ['trust', 'list'],
  summary: 'list the policies that are trusted',
  description:
    'Lists every policy that was trusted: its path, its hash, when that was, and whether its content is still the same.',
  args: LIST_ARGS,
  options: LIST_OPTIONS,
  examples: ['sub trust list', 'sub trust list --json'],
  exitCodes: { 0: 'they were listed', 2: BAD_STORE, 70: INTERNAL },
  load: () => import('../commands/trust-list.ts'),
});

const REVOKE_ARGS = { file };
const REVOKE_OPTIONS = { json: jsonFlag };

const revoke = createCommand({
  path: ['trust', 'revoke'],
  summary: 'trust a policy no more',
  description:
    'From its next start on, a run only lets this policy tighten your own. Nobody is asked: nothing more passes by it.',
  args: REVOKE_ARGS,
  options: REVOKE_OPTIONS,
  examples: ['sub trust revoke', 'sub trust revoke policy.yaml'],
  exitCodes: { 0: 'it is not trusted', 2: BAD_STORE, 70: INTERNAL },
  load: () => import('../commands/trust-revoke.ts'),
});

export const TRUST_GROUPS = [
  {
    name: 'trust',
    summary: 'trust the policies of projects',
    description:
      'The policies of projects that hold instead of your own. Without a command, the one of this project is trusted.',
    fallback: 'add',
  },
] as const;

export const TRUST_COMMANDS = [add, list, revoke];

export type TrustAddInput = Input<typeof ADD_ARGS, typeof ADD_OPTIONS>;
export type TrustListInput = Input<typeof LIST_ARGS, typeof LIST_OPTIONS>;
export type TrustRevokeInput = Input<typeof REVOKE_ARGS, typeof REVOKE_OPTIONS>;

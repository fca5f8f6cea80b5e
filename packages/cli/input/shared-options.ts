// Options and texts of the help that several commands share.
import { choice, textOption, textsOption } from './command.ts';

export const YES_FLAG = 'Do not ask for confirmation';

export const PROFILES = ['production', 'development'] as const;
export const PROFILE_DOC =
  'production enforces the policy, development only reports what it would refuse';

export const DECISION_FILTERS = [
  'ALLOW',
  'BLOCK',
  'THROTTLE',
  'REJECT_WITH_HINT',
  'TERMINATE_RUN',
  'REFUSED',
] as const;

export const NO_LEDGER = 'wrong flags, or a ledger that is missing, locked or cannot be read';
export const RUN_ID_DOC = 'The id of the run, as `sub query --runs` lists it, or `last`';
export const RUN_OPTION = textOption('run', 'Only hints of this run; `last` is the newest run');
export const COMPARE_OPTION = choice(
  ['action', 'would'],
  'Compare with what happened, or with what enforcing policies would have done (default: action)',
);

export const BAD_POLICY = 'wrong flags, or a file that cannot be read or is not a valid policy';
export const TRUST_FILE_DOC = 'The policy (default: the project policy found from here)';
export const BAD_TRUST =
  'wrong flags, no terminal to ask on, no such policy, or a file that cannot be read or written';

export const ID_DOC = 'The id, or a unique start or end of it';
export const NOTE_OPTION = textOption('text', 'The reason; it is recorded');

export const PROTECT_OPTION = choice(
  ['keychain', 'passphrase', 'file'],
  'How to protect the key: the keychain of the system, a passphrase, or a file with mode 0600',
);
export const NO_STORE =
  'wrong flags, no terminal to ask on, no such secret, or a store that cannot be unlocked, read or written';

export const SERVER_DOC = 'The name of the server, as its shim has it';
export const COMMAND_LINE_DOC =
  'Behind `--`: the command that starts the server, when no client config has it';
export const CLIENT_OPTION = textOption('name', 'Take the command from the config of this client');
export const TIMEOUT_OPTION = textOption('time', 'How long to wait for the server (default: 30s)');
/** How a server is reached by an address, in place of a command. */
export const REMOTE_OPTIONS = {
  url: textOption('url', 'The address of a server that is reached by HTTP, instead of a command'),
  header: textsOption(
    'header',
    "A header for this server, as 'Name: value'; may be repeated. Not for secrets: a command line can be read",
  ),
  'header-env': textsOption(
    'name=variable',
    'A header whose value is in a variable, or in the secret that is bound to it; may be repeated',
  ),
  'bearer-env': textOption(
    'variable',
    'The variable with the bearer token of this server, or the secret that is bound to it',
  ),
  transport: textOption(
    'name',
    'How it is spoken to: http (Streamable HTTP), sse (HTTP+SSE of 2024-11-05), or auto, which finds out',
  ),
};
/** Of commands that start a server to list what it offers. */
export const NO_PROBE =
  'wrong flags, no terminal to ask on, a server that is unknown or does not answer, files that cannot be read or written, or started by an agent';

// `sub policy …`: everything that can be done with a policy without running an agent.
import {
  choice,
  createCommand,
  flag,
  type Input,
  many,
  one,
  text,
  texts,
} from '../input/command.ts';
import { CLIENTS, ENVS } from '../input/identity-values.ts';

const BAD_INPUT = 'wrong flags, or a file that cannot be read or is not a valid policy';
const INTERNAL = 'a defect in sub itself';
const jsonFlag = flag('print one JSON document instead of text');

const LINT_ARGS = { file: many('bundles in YAML or JSON; - reads standard input') };
const LINT_OPTIONS = { strict: flag('fail on warnings too'), json: jsonFlag };

const lint = createCommand({
  path: ['policy', 'lint'],
  summary: 'check bundles and say what is wrong where',
  description: 'Reads each bundle and prints every problem with its place and its likely fix.',
  args: LINT_ARGS,
  options: LINT_OPTIONS,
  examples: ['sub policy lint policy.yaml', 'sub policy lint --strict --json policies/*.yaml'],
  exitCodes: {
    0: 'no errors (with --strict: no warnings either); notes never fail',
    1: 'there are errors, also in a file that is empty or no text; or warnings with --strict',
    2: 'wrong flags, or a file that cannot be read or is of another kind: a snapshot, a call, a key',
    70: INTERNAL,
  },
  load: () => import('../commands/policy-lint.ts'),
});

const COMPILE_ARGS = { file: one('the bundle; - reads standard input') };
const COMPILE_OPTIONS = {
  out: text('file', 'write the snapshot there, whole or not at all; else to standard output', 'o'),
  sign: text('key', 'sign it with this private key (see `sub policy keygen`)'),
  json: flag('print JSON always: a summary with --out, else the snapshot; or the problems'),
};

const compile = createCommand({
  path: ['policy', 'compile'],
  summary: 'compile a bundle into a snapshot',
  description:
    'Compiles a bundle into the snapshot that is loaded to decide calls: defaults expanded, globs normalised, sealed by its hash and perhaps signed.',
  args: COMPILE_ARGS,
  options: COMPILE_OPTIONS,
  examples: [
    'sub policy compile policy.yaml -o policy.snapshot.json',
    'sub policy compile policy.yaml --sign policy.key -o policy.snapshot.json',
  ],
  exitCodes: {
    0: 'the snapshot was written',
    1: 'the bundle has errors; nothing was written',
    2: 'wrong flags, an output that is also an input, or a file that cannot be read or written',
    70: INTERNAL,
  },
  load: () => import('../commands/policy-compile.ts'),
});

const VERIFY_ARGS = { snapshot: one('the compiled snapshot; - reads standard input') };
const VERIFY_OPTIONS = {
  key: texts('file', 'a public key that may have signed it; may be given several times'),
  json: jsonFlag,
};

const verify = createCommand({
  path: ['policy', 'verify'],
  summary: 'check the hash and the signature of a snapshot',
  description:
    'Checks that a snapshot is whole and, with --key, that one of these keys signed it. Without --key only the hash is checked.',
  args: VERIFY_ARGS,
  options: VERIFY_OPTIONS,
  examples: ['sub policy verify policy.snapshot.json --key policy.key.pub'],
  exitCodes: {
    0: 'it is whole, and signed by a given key when --key was used',
    1: 'it was changed, or no given key signed it',
    2: 'wrong flags, or a file that cannot be read or is no snapshot',
    70: INTERNAL,
  },
  load: () => import('../commands/policy-verify.ts'),
});

const KEYGEN_ARGS = { out: one('the file for the private key; the public one gets .pub') };
const KEYGEN_OPTIONS = { json: jsonFlag };

const keygen = createCommand({
  path: ['policy', 'keygen'],
  summary: 'make a key pair for signing snapshots',
  description:
    'Makes an ed25519 key pair: the private key (readable by you alone) and, beside it, the public key. Never overwrites a file.',
  args: KEYGEN_ARGS,
  options: KEYGEN_OPTIONS,
  examples: ['sub policy keygen policy.key'],
  exitCodes: {
    0: 'both files were written',
    2: 'wrong flags, or a file exists or cannot be written',
    70: INTERNAL,
  },
  load: () => import('../commands/policy-keygen.ts'),
});

const DIFF_ARGS = {
  old: one('the bundle or snapshot as it was'),
  new: one('the bundle or snapshot as it is now'),
};
const DIFF_OPTIONS = {
  'fail-on': choice(['critical', 'warn', 'any'], 'the least change that fails; warn unless given'),
  json: jsonFlag,
};

const diff = createCommand({
  path: ['policy', 'diff'],
  summary: 'say what changed between two policies, and whether it loosens',
  description:
    'Compares what two policies do, not how they are written. Critical: something that was stopped may now pass.',
  args: DIFF_ARGS,
  options: DIFF_OPTIONS,
  examples: [
    'sub policy diff main.yaml branch.yaml',
    'git show main:policy.yaml | sub policy diff - policy.yaml --fail-on any',
  ],
  exitCodes: {
    0: 'no change reaches the threshold',
    1: 'a change reaches the threshold of --fail-on',
    2: BAD_INPUT,
    70: INTERNAL,
  },
  load: () => import('../commands/policy-diff.ts'),
});

const EXPLAIN_ARGS = { file: one('the bundle or snapshot; - reads standard input') };
const EXPLAIN_OPTIONS = {
  call: texts('file', 'a call, or a list of calls made in a row; may be given several times'),
  server: text('name', 'the server of one call given by flags'),
  tool: text('name', 'its tool'),
  args: text('json', 'its arguments, as a JSON object; {} unless given'),
  'agent-id': text('name', 'who calls, where the call does not say'),
  env: choice(ENVS, 'the environment, where the call does not say'),
  client: choice(CLIENTS, 'the client, where the call does not say'),
  mode: choice(['observe', 'guardrails', 'control'], 'decide as if the policy had this mode'),
  profile: choice(['production', 'development'], 'the profile; production unless given'),
  cedar: text('path', 'Cedar policies beside it, a folder or a file; as configured unless given'),
  at: text('time', 'the time of the first call, as 2026-01-31T12:00:00Z; now unless given'),
  last: flag('explain only the last call'),
  json: jsonFlag,
};

const explain = createCommand({
  path: ['policy', 'explain'],
  summary: 'decide calls and show what every rule had to say',
  description:
    'Decides calls as an agent would meet them, in a row, so that budgets and repeats count, and shows for each call what every rule had to say. Nothing is sent anywhere.',
  args: EXPLAIN_ARGS,
  options: EXPLAIN_OPTIONS,
  examples: [
    'sub policy explain policy.yaml --call call.json',
    `sub policy explain policy.yaml --server github --tool delete_repo --args '{"repo":"a/b"}'`,
    'sub policy explain policy.yaml --call session.json --profile development --json',
    'sub policy explain policy.yaml --cedar cedar --call call.json',
  ],
  exitCodes: {
    0: 'every call explained was allowed',
    1: 'at least one of them was refused, by a rule or by a Cedar policy',
    2: `${BAD_INPUT}; or Cedar policies that cannot be used`,
    70: INTERNAL,
  },
  load: () => import('../commands/policy-explain.ts'),
});

const REPLAY_ARGS = {
  file: one('the bundle or snapshot to decide by'),
  events: one('recorded events, one JSON object per line; - reads standard input'),
};
const REPLAY_OPTIONS = {
  compare: choice(
    ['action', 'would'],
    'what happened, or what enforcing policies would have done; action unless given',
  ),
  json: jsonFlag,
};

const replay = createCommand({
  path: ['policy', 'replay'],
  summary: 'decide recorded calls again, and show what would differ',
  description:
    'Decides the calls of recorded runs by this policy and compares with what was decided then.',
  args: REPLAY_ARGS,
  options: REPLAY_OPTIONS,
  examples: ['sub policy replay new-policy.yaml events.jsonl'],
  exitCodes: {
    0: 'no call is treated otherwise than it was',
    1: 'at least one call is treated more strictly or more loosely',
    2: BAD_INPUT,
    70: INTERNAL,
  },
  load: () => import('../commands/policy-replay.ts'),
});

export const POLICY_COMMANDS = [lint, compile, verify, keygen, diff, explain, replay];

export type LintInput = Input<typeof LINT_ARGS, typeof LINT_OPTIONS>;
export type CompileInput = Input<typeof COMPILE_ARGS, typeof COMPILE_OPTIONS>;
export type VerifyInput = Input<typeof VERIFY_ARGS, typeof VERIFY_OPTIONS>;
export type KeygenInput = Input<typeof KEYGEN_ARGS, typeof KEYGEN_OPTIONS>;
export type DiffInput = Input<typeof DIFF_ARGS, typeof DIFF_OPTIONS>;
export type ExplainInput = Input<typeof EXPLAIN_ARGS, typeof EXPLAIN_OPTIONS>;
export type ReplayInput = Input<typeof REPLAY_ARGS, typeof REPLAY_OPTIONS>;

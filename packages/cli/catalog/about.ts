// What `sub` says about itself and about the machine it runs on.
import { createCommand, flag, type Input, one } from '../input/command.ts';

const INTERNAL = 'a defect in sub itself';
const jsonFlag = flag('print one JSON document instead of text');

const VERSION_ARGS = {};
const VERSION_OPTIONS = { json: jsonFlag };

const version = createCommand({
  path: ['version'],
  summary: 'print the version',
  description: 'Prints the version of sub, of the contracts it speaks, and of Node.',
  args: VERSION_ARGS,
  options: VERSION_OPTIONS,
  examples: ['sub version', 'sub version --json'],
  exitCodes: { 0: 'the version was printed', 2: 'wrong flags', 70: INTERNAL },
  load: () => import('../commands/version.ts'),
});

const DOCTOR_ARGS = {};
const DOCTOR_OPTIONS = { json: jsonFlag };

const doctor = createCommand({
  path: ['doctor'],
  summary: 'check that everything is in place, and say what to do where it is not',
  description:
    'Looks at Node, the build, the home folder, the configuration, the policy, the secrets of servers, the ledger and its daemon, the spool, and whether the servers of agent clients go through sub. It changes nothing and starts nothing, and prints no value of any configuration.',
  args: DOCTOR_ARGS,
  options: DOCTOR_OPTIONS,
  examples: ['sub doctor', 'sub doctor --json'],
  exitCodes: {
    0: 'all is well, or there are warnings only',
    1: 'something is broken',
    2: 'wrong flags',
    70: INTERNAL,
  },
  load: () => import('../commands/doctor.ts'),
});

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

const COMPLETION_ARGS = { shell: one(`the shell: ${SHELLS.join(', ')}`) };
const COMPLETION_OPTIONS = {};

const completion = createCommand({
  path: ['completion'],
  summary: 'print a script that completes commands in a shell',
  description:
    'Prints a script that lets the shell complete commands, options and their values. For bash, put `source <(sub completion bash)` into ~/.bashrc; for zsh, write the script to a file `_sub` in a folder of $fpath; for fish, to ~/.config/fish/completions/sub.fish.',
  args: COMPLETION_ARGS,
  options: COMPLETION_OPTIONS,
  examples: ['sub completion bash', 'sub completion fish'],
  exitCodes: { 0: 'the script was printed', 2: 'wrong flags, or another shell', 70: INTERNAL },
  load: () => import('../commands/completion.ts'),
});

export const ABOUT_COMMANDS = [doctor, completion, version];

export type VersionInput = Input<typeof VERSION_ARGS, typeof VERSION_OPTIONS>;
export type DoctorInput = Input<typeof DOCTOR_ARGS, typeof DOCTOR_OPTIONS>;
export type CompletionInput = Input<typeof COMPLETION_ARGS, typeof COMPLETION_OPTIONS>;

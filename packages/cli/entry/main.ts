// The entry of `sub`. Exit codes are set, never forced, so that pending output is written first.

import { type Failure, failure } from '@subluminal/contracts';
import { HELP_SECTIONS } from '../commands/index.ts';
import { EXIT } from '../input/command.ts';
import manifest from '../package.json' with { type: 'json' };
import { type Io, processIo } from '../terminal/io.ts';
import { reportFailure, warn } from '../terminal/report-failure.ts';
import { harmlessLine } from '../terminal/text.ts';
import { isWorkingFolderGone, MISSING_FOLDER } from '../terminal/working-folder.ts';
import { type Intent, type Program, parseArguments } from './program.ts';

const PROGRAM: Program = {
  version: manifest.version,
  description: 'Subluminal: policy for the tool calls of AI agents.',
  startHere:
    'Start here: `sub wrap -- claude` governs one session of an agent, `sub import` governs it for good.',
  sections: HELP_SECTIONS,
};

async function main(argv: readonly string[], io: Io): Promise<number> {
  const json = hasFlag(argv, '--json');
  const intent = await parseArguments(argv, PROGRAM, io.out);
  switch (intent.kind) {
    case 'print':
      io.out.write(intent.text);
      return EXIT.fine;
    case 'missing':
      io.err.write(intent.text);
      return EXIT.usage;
    case 'failure':
      reportFailure(intent, io, json);
      return EXIT.usage;
    case 'run': {
      const refused = await refusalOf(intent, io);
      if (refused === undefined) await repair(intent, io);
      const outcome = refused ?? (await intent.command.run(intent.values, io));
      if (outcome.kind === 'done') return outcome.exitCode;
      reportFailure(outcome, io, json);
      return EXIT.usage;
    }
  }
}

/**
 * Commands whose output must hold nothing else, or that run unattended: the next command repairs.
 * `unwrap` does the same work and reports it itself.
 */
const UNREPAIRED = new Set(['shim', 'ledgerd', 'completion', 'version', 'unwrap']);
/** Commands that promise to change nothing: they only report. */
const READ_ONLY = new Set(['status', 'doctor']);

type ChosenCommand = Extract<Intent, { readonly kind: 'run' }>;

/** Before anything is read or changed. */
async function refusalOf({ command, values }: ChosenCommand, io: Io): Promise<Failure | undefined> {
  if (command.requires === undefined || values.options['dry-run'] === true) return undefined;
  const { mayAct } = await import('../input/require-person.ts');
  return mayAct(command.requires, io);
}

/** A killed `sub wrap` leaves a config rewritten: the next command restores it. */
async function repair({ path, values }: ChosenCommand, io: Io): Promise<void> {
  const [name = ''] = path;
  if (UNREPAIRED.has(name)) return;
  const { repairs } = await import('../adopt/repairs.ts');
  const isReadOnly = READ_ONLY.has(name) || values.options['dry-run'] === true;
  for (const line of await repairs(process.env, isReadOnly)) warn(io, line);
}

/** Known before parsing, because parsing itself may fail. */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes(flag);
}

/** Reports a defect of sub: one line, and the stack with SUB_DEBUG=1. */
function reportDefect(cause: unknown, io: Io): void {
  if (isWorkingFolderGone(cause)) {
    const { message, fix } = MISSING_FOLDER;
    reportFailure(failure('SUB_FILE_READ', message, fix), io, hasFlag(argv, '--json'));
    process.exitCode = EXIT.usage;
    return;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  const [line = ''] = message.split('\n');
  const fix = 'This is a defect in sub; run it again with SUB_DEBUG=1 to see where.';
  reportFailure(failure('SUB_INTERNAL', `internal error: ${line}.`, fix), io);
  if (process.env['SUB_DEBUG'] === '1' && cause instanceof Error) {
    for (const frame of (cause.stack ?? '').split('\n')) io.err.write(harmlessLine(frame));
  }
  process.exitCode = EXIT.internal;
}

/** A reader that closes the output early (`| head`) is no error. */
function watchOutput(io: Io): void {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EPIPE') process.exit(EXIT.brokenPipe);
    const fix = 'Check the disk or the device that the output goes to.';
    const message = `the output cannot be written: ${cause.code ?? cause.message}.`;
    reportFailure(failure('SUB_FILE_WRITE', message, fix), io);
    process.exit(EXIT.usage);
  });
  process.stderr.on('error', () => process.exit(EXIT.brokenPipe));
}

const argv = process.argv.slice(2);
const io = processIo(hasFlag(argv, '--no-color'));
watchOutput(io);
process.on('uncaughtException', (cause) => reportDefect(cause, io));
main(argv, io).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (cause: unknown) => reportDefect(cause, io),
);

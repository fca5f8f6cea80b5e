import type { Failure } from '@subluminal/contracts';
import { clientIds } from '@subluminal/plane/clients';
import {
  planRestore,
  type RestoreFile,
  type RestoreOptions,
} from '@subluminal/plane/clients/setup';
import { forget } from '../adopt/forget.ts';
import { problemParts, tellProblems } from '../adopt/lines.ts';
import { printRestore, restoreFiles, restoreParts } from '../adopt/restore-files.ts';
import { chosenClient, whereabouts } from '../adopt/wish.ts';
import {
  badUsage,
  defineCommand,
  EXIT,
  type Input,
  optional,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { YES_FLAG } from '../input/shared-options.ts';
import { confirm } from '../terminal/confirm.ts';
import { warn } from '../terminal/report-failure.ts';
import { plural } from '../terminal/text.ts';

const ARGS = { client: optional(`The client: ${clientIds().join(', ')}`) };
const OPTIONS = {
  all: 'Restore every client',
  'dry-run': 'Print what would change, and change nothing',
  project: textOption('dir', 'Only configs inside this folder (default: all)'),
  'config-path': textOption('file', 'Use this config instead of those of the client'),
  forget: 'Drop the record of a config that was deleted on purpose, and keep the backup',
  yes: YES_FLAG,
};
type RestoreInput = Input<typeof ARGS, typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Restores the config to its content before `sub import`, byte for byte. Changes that another program made since then stay. Secrets that were moved into the store return to the config. Also removes shims from a config that has no import record.',
  args: ARGS,
  options: OPTIONS,
  examples: [
    'sub restore claude',
    'sub restore --all --yes',
    'sub restore custom --config-path mcp.json',
  ],
  exitCodes: {
    0: 'the configs are restored, there was nothing to do, or you declined',
    2: 'wrong flags, no terminal to ask on, a config that cannot be restored safely, or a secret that is missing from the store',
  },
  requires: 'person',
  run: async (input, io) => {
    const { options } = input;
    const wish = orThrow(await readWish(input));
    if (options.forget && options['dry-run']) {
      return badUsage('--forget cannot be tried out.', 'Leave out --dry-run.');
    }
    if (options.forget) return forget(wish, options.json, io);
    const { files, problems } = orThrow(await planRestore(wish));
    let hasFailed = tellProblems(problems, io);
    if (!options.json) for (const file of files) printRestore(file, io);
    let restored: ReadonlySet<RestoreFile> = new Set();
    if (files.length > 0 && !options['dry-run']) {
      const text = `Put ${files.length === 1 ? 'this file' : 'these files'} back?`;
      const isAgreed = orThrow(await confirm(text, io, options.yes));
      if (!isAgreed) warn(io, 'nothing was changed.');
      if (isAgreed) {
        const outcome = await restoreFiles(files, io);
        hasFailed ||= outcome.problems.length > 0;
        restored = outcome.restored;
      }
    }
    const document = {
      files: files.map((one) => restoreParts(one, restored)),
      problems: problems.map(problemParts),
    };
    const done = `Done: ${plural(restored.size, 'file')} put back. Start the client again.\n`;
    const nothing = files.length === 0 && !hasFailed ? 'Nothing to do.\n' : '';
    const exitCode = hasFailed ? EXIT.usage : EXIT.fine;
    return printout(document, restored.size > 0 ? done : nothing, exitCode);
  },
});

async function readWish({ args, options }: RestoreInput): Promise<RestoreOptions | Failure> {
  const where = orThrow(await whereabouts(options.project));
  const chosen = orThrow(await chosenClient(args.client, options['config-path'], where));
  const { client, configPath } = chosen;
  if (options.all === (client !== undefined)) {
    const message = options.all ? '--all is every client.' : 'which client is missing.';
    const fix = options.all ? 'Leave out the client.' : 'Name a client, or give --all.';
    return badUsage(message, fix);
  }
  return { ...where, client, configPath, isProjectOnly: options.project !== undefined };
}

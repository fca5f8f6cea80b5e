import { type Failure, isFailure } from '@subluminal/contracts';
import { clientIds } from '@subluminal/plane/clients';
import {
  applyRestore,
  planRestore,
  type RestoreFile,
  type RestoreOptions,
} from '@subluminal/plane/clients/setup';
import { forget } from '../adopt/forget.ts';
import { diffLines, printLines, problemParts, tellProblems } from '../adopt/lines.ts';
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
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, plural } from '../terminal/text.ts';

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
    if (!options.json) for (const file of files) printFile(file, io);
    const restored = new Set<RestoreFile>();
    if (files.length > 0 && !options['dry-run']) {
      const text = `Put ${files.length === 1 ? 'this file' : 'these files'} back?`;
      const isAgreed = orThrow(await confirm(text, io, options.yes));
      if (!isAgreed) warn(io, 'nothing was changed.');
      for (const file of isAgreed ? files : []) {
        const result = await applyRestore(file);
        if (isFailure(result)) hasFailed = tellProblems([result], io);
        else {
          const { isBack, replaced, lost, stays } = result;
          if (isBack) restored.add(file);
          const kept = replaced && `${file.path} as it was until now is kept in ${replaced}.`;
          for (const words of [kept, lost, stays]) if (words !== undefined) warn(io, words);
        }
      }
    }
    const document = {
      files: files.map((one) => partsOf(one, restored)),
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

const HOW: { readonly [how in RestoreFile['how']]: string } = {
  same: 'back to what it was, byte for byte',
  merged: 'changed by another program since: our changes come out, everything else stays',
  unrecorded: 'no record of the change is left: what stands behind `--` becomes the command again',
};

const ROTATED = 'back to what it was, but for secrets that have a newer value';

function printFile(file: RestoreFile, io: Io): void {
  const { client, path, how, left, missing, secrets, stored, withheld, rotated, diff } = file;
  const head = io.out.colors.bold(harmless(`${client.title}: ${path}`));
  const notes: readonly (readonly [names: readonly string[], words: string])[] = [
    [left, 'left as they are, because others have changed them'],
    [missing, 'not there any more, so they cannot come back'],
    [secrets, 'back in plain text, out of the store, which keeps its copies'],
    [rotated, 'with the newer value that the store has'],
    [stored, 'only in the store from now on, because their servers are gone'],
  ];
  const lines = [
    how === 'same' && rotated.length > 0 ? ROTATED : HOW[how],
    ...notes.flatMap(([names, words]) =>
      names.length === 0 ? [] : [`${words}: ${names.join(', ')}`],
    ),
    ...withheld.map(({ server, variable, secret }) => {
      const why = 'because its command is not the one that the secret was moved from';
      const fix = `If that is yours, add it by hand: \`sub secrets get ${secret}\` prints it.`;
      return `${server} is left without ${variable}, ${why}. ${fix}`;
    }),
  ];
  const shown = lines.map((line) => `  ${harmless(line)}`);
  printLines([head, ...shown, ...diffLines(diff, io.out)], io.out);
}

function partsOf(file: RestoreFile, restored: ReadonlySet<RestoreFile>): object {
  const { client, path, how, taken, left, missing, secrets, stored, withheld, rotated, diff } =
    file;
  const names = { taken, left, missing, secrets, stored, withheld, rotated };
  return { client: client.id, path, how, ...names, diff, restored: restored.has(file) };
}

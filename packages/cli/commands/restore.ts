import { type Failure, failure, isFailure } from '@subluminal/contracts';
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
  defineCommand,
  done,
  EXIT,
  type Input,
  optional,
  orThrow,
  textOption,
} from '../input/command.ts';
import { YES_FLAG } from '../input/shared-options.ts';
import { asker } from '../terminal/confirm.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';

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
    const wish = orThrow(await readWish(input));
    if (input.options.forget && input.options['dry-run']) {
      return failure('SUB_USAGE', '--forget cannot be tried out.', 'Leave out --dry-run.');
    }
    if (input.options.forget) return forget(wish, input.options.json, io);
    const plan = orThrow(await planRestore(wish));
    const { options } = input;
    const { files, problems } = plan;
    let hasFailed = tellProblems(problems, io);
    if (!options.json) for (const file of files) printFile(file, io);
    const restored = new Set<RestoreFile>();
    if (files.length > 0 && !options['dry-run']) {
      const text = `Put ${files.length === 1 ? 'this file' : 'these files'} back?`;
      const asks = asker(io, options.yes);
      const answer = await asks.ask(text);
      await asks.close();
      if (isFailure(answer)) return answer;
      if (!answer) io.err.write('sub: nothing was changed.\n');
      for (const file of answer ? files : []) {
        const result = await applyRestore(file);
        if (isFailure(result)) hasFailed = tellProblems([result], io);
        else {
          if (result.isBack) restored.add(file);
          if (result.replaced !== undefined) tellReplaced(file, result.replaced, io);
          for (const words of [result.lost, result.stays]) {
            if (words !== undefined) warn(io, words);
          }
        }
      }
    }
    if (options.json) {
      const told = { problems: problems.map(problemParts) };
      io.out.write(jsonText({ files: files.map((one) => partsOf(one, restored)), ...told }));
    } else if (files.length === 0 && !hasFailed) io.out.write('Nothing to do.\n');
    else if (restored.size > 0) {
      io.out.write(`Done: ${plural(restored.size, 'file')} put back. Start the client again.\n`);
    }
    return done(hasFailed ? EXIT.usage : EXIT.fine);
  },
});

async function readWish({ args, options }: RestoreInput): Promise<RestoreOptions | Failure> {
  const where = orThrow(await whereabouts(options.project));
  const chosen = orThrow(await chosenClient(args.client, options['config-path'], where));
  const { client, configPath } = chosen;
  if (options.all === (client !== undefined)) {
    const message = options.all ? '--all is every client.' : 'which client is missing.';
    const fix = options.all ? 'Leave out the client.' : 'Name a client, or give --all.';
    return failure('SUB_USAGE', message, fix);
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
  const lines = [`  ${how === 'same' && rotated.length > 0 ? ROTATED : HOW[how]}`];
  if (left.length > 0) {
    lines.push(
      `  left as they are, because others have changed them: ${harmless(left.join(', '))}`,
    );
  }
  if (missing.length > 0) {
    lines.push(`  not there any more, so they cannot come back: ${harmless(missing.join(', '))}`);
  }
  if (secrets.length > 0) {
    const names = harmless(secrets.join(', '));
    lines.push(`  back in plain text, out of the store, which keeps its copies: ${names}`);
  }
  if (rotated.length > 0) {
    lines.push(`  with the newer value that the store has: ${harmless(rotated.join(', '))}`);
  }
  if (stored.length > 0) {
    const names = harmless(stored.join(', '));
    lines.push(`  only in the store from now on, because their servers are gone: ${names}`);
  }
  for (const { server, variable, secret } of withheld) {
    const fix = `If that is yours, add it by hand: \`sub secrets get ${secret}\` prints it.`;
    lines.push(
      `  ${harmless(`${server} is left without ${variable}, because its command is not the one that the secret was moved from. ${fix}`)}`,
    );
  }
  printLines([head, ...lines, ...diffLines(diff, io.out)], io.out);
}

function tellReplaced({ path }: RestoreFile, replaced: string, io: Io): void {
  warn(io, `${path} as it was until now is kept in ${replaced}.`);
}

function partsOf(file: RestoreFile, restored: ReadonlySet<RestoreFile>): object {
  const { client, path, how, taken, left, missing, secrets, stored, withheld, rotated, diff } =
    file;
  const names = { taken, left, missing, secrets, stored, withheld, rotated };
  return { client: client.id, path, how, ...names, diff, restored: restored.has(file) };
}

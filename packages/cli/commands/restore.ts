import {
  applyRestore,
  planRestore,
  type RestoreFile,
  type RestoreOptions,
} from '@subluminal/plane/main/adopt';
import { asker } from '../adopt/confirm.ts';
import { diffLines, failureOf, printLines, tellProblems } from '../adopt/lines.ts';
import { chosenClient, whereabouts } from '../adopt/wish.ts';
import type { RestoreInput } from '../catalog/adopt.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Failure, failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { harmless, jsonText, plural } from '../text.ts';

async function run(input: RestoreInput, io: Io): Promise<Outcome> {
  const wish = await readWish(input);
  if (isFailure(wish)) return wish;
  const plan = await planRestore(wish);
  if (plan.kind === 'refused') return failureOf(plan);
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
      const result = applyRestore(file);
      if (result.kind === 'refused') hasFailed = tellProblems([result], io);
      else {
        restored.add(file);
        if (result.replaced !== undefined) tellReplaced(file, result.replaced, io);
      }
    }
  }
  if (options.json) {
    io.out.write(jsonText({ files: files.map((one) => partsOf(one, restored)), problems }));
  } else if (files.length === 0) io.out.write('Nothing to do.\n');
  else if (restored.size > 0) {
    io.out.write(`Done: ${plural(restored.size, 'file')} put back. Start the client again.\n`);
  }
  return done(hasFailed ? EXIT.usage : EXIT.fine);
}

async function readWish({ args, options }: RestoreInput): Promise<RestoreOptions | Failure> {
  const where = await whereabouts(options.project);
  if (isFailure(where)) return where;
  const chosen = await chosenClient(args.client, options['config-path'], where);
  if (isFailure(chosen)) return chosen;
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

function printFile(file: RestoreFile, io: Io): void {
  const { client, path, how, left, diff } = file;
  const head = io.out.colors.bold(harmless(`${client.title}: ${path}`));
  const lines = [`  ${HOW[how]}`];
  if (left.length > 0) {
    lines.push(
      `  left as they are, because others have changed them: ${harmless(left.join(', '))}`,
    );
  }
  printLines([head, ...lines, ...diffLines(diff, io.out)], io.out);
}

function tellReplaced({ path }: RestoreFile, replaced: string, io: Io): void {
  io.err.write(`sub: ${harmless(`${path} as it was until now is kept in ${replaced}.`)}\n`);
}

function partsOf(file: RestoreFile, restored: ReadonlySet<RestoreFile>): object {
  const { client, path, how, taken, left, diff } = file;
  return { client: client.id, path, how, taken, left, diff, restored: restored.has(file) };
}

export { run };

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  badUsage,
  defineCommand,
  EXIT,
  optionalMany,
  orThrow,
  printout,
} from '../input/command.ts';
import { errorCode, stdinTwice, unreadable } from '../input/read-file.ts';
import { renderProblem } from '../policy/render-problem.ts';
import { type CheckedFile, checkFile } from '../surface/check-manifest.ts';
import { countWords } from '../surface/render-manifest.ts';
import { type SurfaceHome, surfaceHome } from '../surface/surface-home.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

/** A file that could not be read is a finding of its own; the others are still checked. */
type Checked = CheckedFile | (Failure & { readonly name: string });

const FILES_MAX = 1_000;

export const command = defineCommand({
  description:
    'Reads manifests as a shim does and prints every problem with its position and a likely fix. In the folder of the manifests it also checks that each file is named after its server and writable only by its owner.',
  args: { file: optionalMany('Manifests (default: all in the folder of the manifests)') },
  examples: ['sub manifest check', 'sub manifest check drafts/github.yaml'],
  exitCodes: {
    0: 'all manifests are usable',
    1: 'a manifest has problems',
    2: 'wrong flags, or a file that cannot be read',
  },
  run: async ({ args }, io) => {
    const home = orThrow(await surfaceHome());
    const paths = orThrow(args.file.length > 0 ? args.file : await allIn(home));
    orThrow(stdinTwice(paths));
    const checked: Checked[] = [];
    // One after the other, so that the report keeps the order of the arguments.
    for (const path of paths) {
      const one = await checkFile(path, home, io);
      checked.push(isFailure(one) ? { ...one, name: path } : one);
    }
    for (const one of checked) if (isFailure(one)) reportFailure(one, io);
    const read = checked.filter((one) => !isFailure(one));
    const text = read.map((one) => textOf(one, io)).join('');
    const isWrong = read.some(({ problems }) => problems.length > 0);
    const exitCode = isWrong ? EXIT.findings : EXIT.fine;
    return printout(
      { files: checked.map(documentOf) },
      checked.length === 0 ? harmlessLine(`There is no manifest in ${home.folder}.`) : text,
      read.length < checked.length ? EXIT.usage : exitCode,
    );
  },
});

async function allIn({ folder }: SurfaceHome): Promise<readonly string[] | Failure> {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/i.test(name));
    if (names.length <= FILES_MAX) return names.toSorted().map((name) => join(folder, name));
    return badUsage(`${folder} has more than ${FILES_MAX} manifests.`, 'Name the files to check.');
  } catch (cause) {
    return errorCode(cause) === 'ENOENT' ? [] : unreadable(folder, cause);
  }
}

function textOf({ name, manifest, problems, lines }: CheckedFile, io: Io): string {
  const { colors, columns } = io.out;
  const shown = problems.map((problem) => renderProblem(problem, { lines, colors, columns }));
  if (problems.length > 0) {
    return `${shown.join('')}${harmless(name)}: ${plural(problems.length, 'error')}\n`;
  }
  const words = manifest === undefined ? 'no problems' : countWords(manifest);
  return `${colors.green('✔')} ${harmless(`${name}: ${words}`)}\n`;
}

function documentOf(one: Checked) {
  if (isFailure(one)) {
    const { name, code, message, fix } = one;
    return { file: name, ok: false, server: null, problems: [], error: { code, message, fix } };
  }
  const { name, manifest, problems } = one;
  return { file: name, ok: problems.length === 0, server: manifest?.server ?? null, problems };
}

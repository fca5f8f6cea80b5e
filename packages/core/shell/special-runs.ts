// Programs that no table describes.
import { ARCHIVE_RUNS } from './archive-runs.ts';
import { BUILTIN_RUNS, type SpecialRun } from './builtin-runs.ts';
import { compose, container } from './container-run.ts';
import { git } from './git-run.ts';
import { LIST_RUNS } from './list-runs.ts';
import { parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import { TRANSFER_RUNS } from './transfer-runs.ts';
import { joinedTexts, useArgument, useArguments, useValues } from './use-arguments.ts';

const RUNNERS: ReadonlyMap<string, RegExp> = new Map([
  ['npm', /^(?:exec|x)$/],
  ['pnpm', /^(?:exec|dlx)$/],
  ['yarn', /^(?:exec|dlx)$/],
  ['bun', /^(?:x)$/],
  ['uv', /^(?:run)$/],
  ['poetry', /^(?:run)$/],
  ['pipenv', /^(?:run)$/],
  ['hatch', /^(?:run)$/],
  ['pdm', /^(?:run)$/],
  ['rye', /^(?:run)$/],
  ['bundle', /^(?:exec)$/],
]);

/** `npm exec x`, `uv run x`: a program behind a command. */
const packageRun: SpecialRun = (outline, run) => {
  const { name } = run;
  const spec = programSpec(name);
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  useValues(outline, run, own);
  const [command, ...words] = run.args.slice(own.operandsAt);
  if (command === undefined) return;
  const isRun = command.texts.some((text) => RUNNERS.get(name)?.test(text) === true);
  if (!isRun) return useArguments(outline, run, { spec, parsed: parseArguments(words, spec) });
  const inner = parseArguments(words, spec, { stopsAtOperand: true });
  useValues(outline, run, inner);
  const args = words.slice(inner.operandsAt);
  if (args.length > 0) outline.run({ ...run, args, isWrapped: true });
};

/** Puts its words together, and gives them to a shell. */
const watch: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  for (const line of joinedTexts(outline, run.args.slice(parsed.operandsAt))) {
    if (line !== '') outline.runScript(line, run);
  }
};

/** `flock FILE -c 'command'`. */
const flock: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  const [file, option, ...rest] = run.args.slice(parsed.operandsAt);
  if (file !== undefined) useArgument(outline, run, { role: 'write', argument: file });
  if (option === undefined) return;
  const isLine = /^(?:-c|--command)$/.test(option.texts[0] ?? '');
  if (!isLine) return outline.run({ ...run, args: [option, ...rest], isWrapped: true });
  for (const text of rest[0]?.texts ?? []) outline.runScript(text, run);
};

export const SPECIAL_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ...BUILTIN_RUNS,
  ...LIST_RUNS,
  ...ARCHIVE_RUNS,
  ...TRANSFER_RUNS,
  ['git', git],
  ...[...RUNNERS.keys()].map((name) => [name, packageRun] as const),
  ['watch', watch],
  ['flock', flock],
  ['docker', container],
  ['podman', container],
  ['nerdctl', container],
  ['docker-compose', compose],
  ['podman-compose', compose],
]);

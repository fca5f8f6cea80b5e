// Managers of packages: what they run, make and pack.
import type { SpecialRun } from './builtin-runs.ts';
import { type Argument, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import type { ScriptOutline } from './script-outline.ts';
import { type NamedRun, useArguments, useValues } from './use-arguments.ts';

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
  const [verb = ''] = command.texts;
  if (CREATES.test(verb) || PACKS.test(verb)) return packageFiles(outline, run, { verb, words });
  const isRun = command.texts.some((text) => RUNNERS.get(name)?.test(text) === true);
  const texts = words.flatMap((word) => word.texts);
  if (verb === 'config' && texts.some((text) => NPM_SETTING.test(text)))
    outline.findings.addOpaque('redefined', texts.join(' '));
  if (verb === 'pkg' && /^(?:set|delete|fix)$/.test(texts[0] ?? ''))
    outline.findings.add('write', 'package.json', run.folders);
  const dashes = texts.indexOf('--');
  if (verb === 'explore' && dashes !== -1)
    return outline.run({ ...run, args: words.slice(dashes + 1), isWrapped: true });
  if (!isRun) return useArguments(outline, run, { spec, parsed: parseArguments(words, spec) });
  const inner = parseArguments(words, spec, { stopsAtOperand: true });
  useValues(outline, run, inner);
  const args = words.slice(inner.operandsAt);
  const [line, more] = args;
  // `npm exec -c 'a b'`
  const isLine = more === undefined && line?.texts.some((text) => /\s/.test(text)) === true;
  if (isLine) for (const text of line.texts) outline.runScript(text, run);
  else if (args.length > 0) outline.run({ ...run, args, isWrapped: true });
};

const CREATES = /^(?:init|innit|create)$/;
const PACKS = /^(?:pack|publish)$/;

interface PackageWords {
  readonly verb: string;
  readonly words: readonly Argument[];
}

/** A new project is made in this folder or in a new one; all of a project is packed. */
function packageFiles(outline: ScriptOutline, run: NamedRun, { verb, words }: PackageWords): void {
  const { findings } = outline;
  const spec = programSpec(run.name);
  const parsed = parseArguments(words, spec);
  useValues(outline, run, parsed);
  const [first, second = '.'] = parsed.operands.flatMap(({ texts }) => texts);
  if (CREATES.test(verb)) {
    const isPlain = first === undefined || run.name === 'uv';
    findings.add('write', isPlain ? (first ?? 'package.json') : second, run.folders);
  } else {
    findings.addTree(first ?? '.', run.folders);
    if (verb === 'pack') findings.add('write', '.', run.folders);
  }
}

/** Settings of npm that name programs. */
const NPM_SETTING =
  /^(?:script-shell|shell|editor|viewer|git|node-options|prefix|globalconfig)(?:=|$)/;

export const PACKAGE_RUNS: ReadonlyMap<string, SpecialRun> = new Map(
  [...RUNNERS.keys()].map((name) => [name, packageRun] as const),
);

// Programs that no table describes.
import { ARCHIVE_RUNS } from './archive-runs.ts';
import { BUILTIN_RUNS, type SpecialRun } from './builtin-runs.ts';
import { compose, container } from './container-run.ts';
import { lastName } from './folders.ts';
import { git } from './git-run.ts';
import { LIST_RUNS } from './list-runs.ts';
import { PACKAGE_RUNS } from './package-runs.ts';
import { programSpec } from './programs/index.ts';
import { TRANSFER_RUNS } from './transfer-runs.ts';
import { isOption, joinedTexts, useArgument, useArguments, useValues } from './use-arguments.ts';

/** Puts its words together, and gives them to a shell. */
const watch: SpecialRun = (outline, run, parsed) => {
  useValues(outline, run, parsed);
  for (const line of joinedTexts(outline, run.args.slice(parsed.operandsAt))) {
    if (line !== '') outline.runScript(line, run);
  }
};

/** A link of the line may lead elsewhere than its name says. */
const link: SpecialRun = (outline, run, parsed) => {
  const { findings } = outline;
  const { operands, values } = parsed;
  if (!parsed.flags.some((flag) => flag === '-s' || isOption(flag, '--symbolic'))) {
    useArguments(outline, run, { spec: programSpec('ln'), parsed });
    const [only, more] = operands.flatMap(({ texts }) => texts);
    const isHere = only !== undefined && more === undefined && values.length === 0;
    if (isHere) findings.add('write', lastName(only), run.folders);
    return;
  }
  const named = values.filter(({ option }) => /^(?:-t|--target-directory)$/.test(option));
  const isLast = named.length === 0 && operands.length > 1;
  const places = isLast ? operands.slice(-1) : named.map(({ value }) => value);
  const links = places.length === 0 ? ['.'] : places.flatMap(({ texts }) => texts);
  for (const target of (isLast ? operands.slice(0, -1) : operands).flatMap(({ texts }) => texts)) {
    findings.add('read', target, run.folders);
    const name = lastName(target);
    for (const place of links) {
      findings.addPut({ from: target, to: place }, run.folders);
      // Another name becomes the link, and a folder gets it.
      if (isLast) findings.addLink(place, target, run.folders);
      const inside = /^\.{0,2}$/.test(name) ? undefined : `${place}/${name}`;
      if (inside !== undefined) findings.addLink(inside, target, run.folders);
      if (!isLast && inside !== undefined) findings.addLinkPath(inside, run.folders);
      else findings.addLinkPath(place, run.folders);
    }
  }
};

/** `install -d` makes folders. */
const install: SpecialRun = (outline, run, parsed) => {
  const isFolder = parsed.flags.some((flag) => flag === '-d' || isOption(flag, '--directory'));
  const spec = isFolder ? programSpec('mkdir') : programSpec('install');
  useArguments(outline, run, { spec, parsed });
};

/** What a program writes in this folder when nobody tells it where. */
const UNTOLD: ReadonlyMap<string, { readonly file: string; readonly operands: number }> = new Map([
  ['split', { file: 'xaa', operands: 2 }],
  ['csplit', { file: 'xx00', operands: Number.POSITIVE_INFINITY }],
  ['script', { file: 'typescript', operands: 1 }],
]);

const writer: SpecialRun = (outline, run, parsed) => {
  useArguments(outline, run, { spec: programSpec(run.name), parsed });
  const untold = UNTOLD.get(run.name);
  const isTold = parsed.flags.some((flag) =>
    /^(?:-f|--prefix|--filter|--help|--version)$/.test(flag),
  );
  if (untold === undefined || (isTold && run.name !== 'script')) return;
  if (parsed.operands.length < untold.operands)
    outline.findings.add('write', untold.file, run.folders);
};

/** Stop before there is a program, or print something. */
const COMPILES_NOTHING = /^(?:-E|-MM?|-fsyntax-only|--?version|--help|-###|-print-.*|-dump.*)$/;

/** A compiler that is not told by `-o` names the file itself. */
const compile: SpecialRun = (outline, run, parsed) => {
  useArguments(outline, run, { spec: programSpec(run.name), parsed });
  const { flags } = parsed;
  const isNamed = flags.includes('-o') || flags.some((flag) => COMPILES_NOTHING.test(flag));
  const texts = parsed.operands.flatMap((operand) => operand.texts);
  for (const text of texts.filter((one) => one.startsWith('@')))
    useArgument(outline, run, {
      role: 'instructions',
      argument: { texts: [text.slice(1)], isProse: false },
    });
  if (isNamed || texts.length === 0) return;
  const end = flags.includes('-c') ? '.o' : flags.includes('-S') ? '.s' : undefined;
  const names = texts.map((text) => text.replace(/^.*\//s, '').replace(/\.\w+$/, ''));
  for (const file of end === undefined ? ['a.out'] : names.map((name) => name + end))
    outline.findings.add('write', file, run.folders);
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
  ...PACKAGE_RUNS,
  ['git', git],
  ['watch', watch],
  ['flock', flock],
  ['ln', link],
  ['install', install],
  ...[...UNTOLD.keys()].map((name) => [name, writer] as const),
  ...'gcc g++ cc c++ clang clang++'.split(' ').map((name) => [name, compile] as const),
  ['docker', container],
  ['podman', container],
  ['nerdctl', container],
  ['docker-compose', compose],
  ['podman-compose', compose],
]);

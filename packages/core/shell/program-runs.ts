// What one program does with its arguments.
import { shownText } from './findings.ts';
import { noteHiddenCode } from './hidden-code.ts';
import { type Argument, parseArguments } from './options.ts';
import { ANY_PROGRAM, programSpec } from './programs/index.ts';
import { pythonModule, runModule } from './python-module.ts';
import { inputTexts } from './script-input.ts';
import type { ScriptOutline } from './script-outline.ts';
import { SPECIAL_RUNS } from './special-runs.ts';
import {
  joinedTexts,
  type NamedRun,
  type ReadArguments,
  useArgument,
  useArguments,
  useCode,
  useValues,
} from './use-arguments.ts';
import { UNKNOWN } from './word-texts.ts';

/** The builtin `[` has a sign of a pattern in its name. */
const PATTERN = /[*?]|\[.+\]/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

export function runProgram(outline: ScriptOutline, run: NamedRun): void {
  const { path, name, args } = run;
  const { findings } = outline;
  if (path === '') return;
  // To zsh, `=cat` is the path of a program.
  if (/^=[\w.-]+$/.test(path))
    runProgram(outline, { ...run, path: path.slice(1), name: path.slice(1) });
  const isDynamic = path.includes(UNKNOWN) || PATTERN.test(path);
  if (isDynamic) findings.addOpaque('dynamic_program', path);
  if (!run.isWrapped && outline.callFunction(path, run, args)) return;
  const spec = programSpec(name);
  const isWrapper = spec.kind === 'wrapper' || spec.kind === 'shell';
  const parsed = parseArguments(args, spec, { stopsAtOperand: isWrapper });
  const texts = args.flatMap((argument) => argument.texts);
  findings.programs.push({
    name: shownText(name),
    path: shownText(path),
    args: texts.map(shownText),
    flags: parsed.flags,
  });
  if (path.includes('/') && !isDynamic && findings.isWritten(path, run.folders)) {
    findings.addOpaque('written_script', path);
  }
  if (!run.isWrapped) runAlias(outline, run);
  noteHiddenCode(outline, run, spec);
  noteWrittenScripts(outline, run, { spec, parsed });
  noteProjectScripts(outline, run);
  const special = SPECIAL_RUNS.get(name);
  if (special !== undefined) special(outline, run, parsed);
  else if (spec.kind === 'wrapper') runWrapped(outline, run, { spec, parsed });
  else if (spec.kind === 'shell') runShell(outline, run, { spec, parsed });
  else if (spec.kind === 'interpreter') runInterpreter(outline, run, { spec, parsed });
  else useArguments(outline, run, { spec, parsed });
}

/** Their scripts can write files and run programs. */
const FILTERS = /^(?:[gmn]?awk|g?sed)$/;
const SCRIPT_OPTION = /^(?:-[fiE]|--file|--include|--exec)$/;
const INPUT = /^(?:-|\/dev\/(?:stdin|fd\/\d+))$/;

const BUILDERS = /^(?:g?make|just|task|rake|ninja)$/;

interface ProjectScripts {
  /** The program, and how its words begin. */
  readonly command: RegExp;
  readonly files: readonly string[];
}

/** Files of a project that a program runs without a word. */
const PROJECT_SCRIPTS: readonly ProjectScripts[] = [
  { command: /^g?make /, files: ['Makefile', 'makefile', 'GNUmakefile'] },
  { command: /^cmake /, files: ['CMakeLists.txt'] },
  { command: /^(?:npm|pnpm|yarn|bun) (?:run|run-script|test|t|start) /, files: ['package.json'] },
  {
    command: /^git (?:.* )?(?:commit|checkout|switch|merge|push|rebase|am) /,
    files: [
      'pre-commit',
      'commit-msg',
      'post-checkout',
      'post-merge',
      'pre-push',
      'post-commit',
    ].map((name) => `.git/hooks/${name}`),
  },
];

/** The line writes what the program runs by itself, or what `go run` compiles. */
function noteProjectScripts({ findings }: ScriptOutline, { name, args, folders }: NamedRun): void {
  const texts = args.flatMap((argument) => argument.texts);
  const line = `${[name, ...texts].join(' ')} `;
  const files = PROJECT_SCRIPTS.filter(({ command }) => command.test(line)).flatMap(
    (one) => one.files,
  );
  const compiled = line.startsWith('go run ') ? texts.filter((text) => text.endsWith('.go')) : [];
  for (const file of [...files, ...compiled])
    if (findings.isWritten(file, folders)) findings.addOpaque('written_script', file);
}

/** `bash < x`, `make -f x`, `node -r x`: scripts that are no operands. */
function noteWrittenScripts(
  outline: ScriptOutline,
  { name, command, folders }: NamedRun,
  { spec, parsed }: ReadArguments,
): void {
  const isScripted = spec.kind === 'shell' || spec.kind === 'interpreter';
  const isFilter = FILTERS.test(name);
  if (!isScripted && !isFilter && !BUILDERS.test(name)) return;
  const values = isFilter
    ? parsed.values.filter(({ option }) => SCRIPT_OPTION.test(option))
    : parsed.values.filter(({ role }) => role === 'read');
  const read = values.map(({ value }) => value);
  const isInput = read.some(({ texts }) => texts.some((text) => INPUT.test(text)));
  if (isFilter && isInput) outline.findings.addOpaque('decoded_script', `… | ${name}`);
  const fed = command.redirections.filter(({ sign }) => sign === '<').map(({ word }) => word);
  for (const text of [...read, ...fed].flatMap(({ texts }) => texts)) {
    if (outline.findings.isWritten(text, folders))
      outline.findings.addOpaque('written_script', text);
  }
}

/** `alias ls=rm`: whether the shell expands it is not known. */
function runAlias(outline: ScriptOutline, run: NamedRun): void {
  const texts = outline.aliases.get(run.path);
  if (texts === undefined) return;
  outline.aliases.delete(run.path);
  const [words = ''] = joinedTexts(
    outline,
    run.args.map(({ texts: all }) => ({ texts: all.map(quoted) })),
  );
  // Whether the shell expands it is not known, and so the folder is not its own.
  for (const text of texts) outline.runScript(`${text} ${words}`, run);
  outline.aliases.set(run.path, texts);
}

/** A text as one word of a command line. */
function quoted(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `env -C x`, `sudo -D x`: the command runs in another folder. */
const MOVES = /^(?:--chdir|--working-directory|-C|-D)$/;

function runWrapped(outline: ScriptOutline, run: NamedRun, { spec, parsed }: ReadArguments): void {
  const { args } = run;
  useValues(outline, run, parsed);
  const isKnown = (flag: string) =>
    spec.flags.has(flag) || spec.values.has(flag) || flag === '--' || /^-\w{2,}$/.test(flag);
  for (const flag of parsed.flags) {
    if (!isKnown(flag)) outline.findings.addOpaque('unreadable', `${run.path} ${flag}`);
  }
  let start = parsed.operandsAt;
  for (const argument of args.slice(start)) {
    if (!argument.texts.every((text) => ASSIGNMENT.test(text))) break;
    start++;
  }
  for (const argument of args.slice(start, start + spec.skips)) {
    useArgument(outline, run, { role: spec.operands[0] ?? 'none', argument });
  }
  const inner = args.slice(start + spec.skips);
  const isSameShell = /^(?:builtin|exec)$/.test(run.path);
  const moved = parsed.values.filter(({ option, role }) => role === 'path' && MOVES.test(option));
  const around = isSameShell ? run.folders : run.folders.copy();
  const folders = moved.reduce((at, { value }) => at.below(value.texts), around);
  if (inner.length > 0) outline.run({ ...run, folders, args: inner, isWrapped: true });
}

/** Patterns stand for other files with these: names with a dot before them, other letters. */
const GLOB_OPTION = /glob|case|posix/i;

function runShell(outline: ScriptOutline, run: NamedRun, { parsed }: ReadArguments): void {
  const { findings } = outline;
  useValues(outline, run, parsed);
  if (parsed.flags.some((flag) => /^--(?:rcfile|init-file)$/.test(flag))) {
    findings.addOpaque('sourced_script', run.path);
  }
  for (const { option, value } of parsed.values)
    if (/^[-+][oO]$/.test(option) && value.texts.some((text) => GLOB_OPTION.test(text)))
      findings.addOpaque('redefined', value.texts[0] ?? '');
  const [script, ...rest] = run.args.slice(parsed.operandsAt);
  if (parsed.flags.includes('-c')) {
    for (const text of script?.texts ?? []) outline.runScript(text, run, rest);
    for (const argument of rest) useArgument(outline, run, { role: 'maybe_path', argument });
    return;
  }
  const isInput = script === undefined || parsed.flags.includes('-s');
  if (!isInput) return runFile(outline, run, { script, rest });
  if (parsed.flags.some((flag) => /^--(?:version|help)$/.test(flag))) return;
  useRest(outline, run, run.args.slice(parsed.operandsAt));
  const texts = inputTexts(run.command, run.feed);
  if (texts === 'unknown' || isTyped(run)) findings.addOpaque('decoded_script', `… | ${run.path}`);
  else if (texts !== 'nothing')
    for (const text of texts) outline.runScript(text, { ...run, feed: undefined });
}

/** Whether a program reads what is typed later, because its input is that of the whole line. */
function isTyped({ command, feed, isGuess }: NamedRun): boolean {
  const isGiven = command.redirections.some(({ sign }) => sign.startsWith('<'));
  const isOpen = feed === undefined && command.heredocs.length === 0 && !isGiven;
  return isOpen && isGuess !== true;
}

interface RunFile {
  readonly script: Argument;
  readonly rest: readonly Argument[];
}

/** Node finds a file by the start of its name, too. */
const SCRIPT_ENDS = ['', '.js', '.mjs', '.cjs', '/index.js'];

function runFile(outline: ScriptOutline, run: NamedRun, { script, rest }: RunFile): void {
  for (const text of script.texts) {
    if (/^\/dev\/(?:fd\/|stdin)|^-$/.test(text))
      outline.findings.addOpaque('decoded_script', run.path);
    else if (SCRIPT_ENDS.some((end) => outline.findings.isWritten(text + end, run.folders)))
      outline.findings.addOpaque('written_script', text);
  }
  useArgument(outline, run, { role: 'read', argument: script });
  useRest(outline, run, rest);
}

/** The arguments of a script that is not known. */
function useRest(outline: ScriptOutline, run: NamedRun, rest: readonly Argument[]): void {
  useArguments(outline, run, { spec: ANY_PROGRAM, parsed: parseArguments(rest, ANY_PROGRAM) });
}

/** Options by which an interpreter prints something, or gets its script otherwise. */
const ASKS = /^(?:-[vVh]|--version|--help|--test|--check|-c|-File|-file|-f)$/;
const ASKS_PHP = /^(?:-[vhSim]|--version|--help)$/;

function runInterpreter(outline: ScriptOutline, run: NamedRun, read: ReadArguments): void {
  const { parsed, spec } = read;
  const { findings } = outline;
  const module = spec === programSpec('python') ? pythonModule(run.args) : undefined;
  if (module !== undefined) return runModule(outline, run, module);
  useArguments(outline, run, read);
  const hasCode = parsed.values.some(({ role }) => role === 'code');
  if (hasCode || spec.replacesFirst?.some((flag) => parsed.flags.includes(flag)) === true) return;
  const [script] = parsed.operands;
  const asks = run.name === 'php' ? ASKS_PHP : ASKS;
  const isAsking = parsed.flags.some((flag) => asks.test(flag));
  if (script !== undefined && script.texts[0] !== '-')
    return runFile(outline, run, { script, rest: [] });
  if (isAsking) return;
  const texts = inputTexts(run.command, run.feed);
  if (texts === 'unknown' || isTyped(run)) findings.addOpaque('decoded_script', `… | ${run.path}`);
  else if (texts !== 'nothing') for (const text of texts) useCode(outline, run, text);
}

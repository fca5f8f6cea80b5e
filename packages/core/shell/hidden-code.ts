// Commands and code in the arguments and the input of programs that no table knows to run them.
import type { OpaqueReason } from './outline.ts';
import { ANY_PROGRAM, programSpec } from './programs/index.ts';
import type { ProgramSpec } from './programs/spec.ts';
import { inputTexts } from './script-input.ts';
import type { ScriptOutline } from './script-outline.ts';
import { SPECIAL_RUNS } from './special-runs.ts';
import { type NamedRun, useCode } from './use-arguments.ts';

/** Run texts that are given to them, among other things. */
const RUN_TEXTS: ReadonlySet<string> = new Set(
  `make gmake just task rake man less more complete bind mapfile readarray concurrently run-p run-s
  npm-run-all psql mysql mariadb vi vim nvim ex ed view emacs dc sqlite3 duckdb apt apt-get gem hg pip pip3
  service let declare typeset local unset test [ [[ printf read wait deno bun`.split(/\s+/),
);
/** Run what they read. */
const RUN_INPUT: ReadonlySet<string> = new Set(
  `at batch crontab ed ex vi vim nvim emacs sqlite3 duckdb m4 dc gdb lldb psql mysql mariadb jshell irb
  ghci sftp ftp telnet sudo su doas script tmux screen`.split(/\s+/),
);
/** What a message or a name does not have: signs of a shell, the path of one, or commands of TeX that run others. */
const COMMAND_SIGN =
  /\$\(|`|;|&&|\|\||\s\||^[+:]?!|^\+?:?\\!|=!|(?:^|[\s=:,|({"'%/])bin\/(?:ba|da|z|k|c|tc|fi)?sh\b|\\(?:write18|openout|input)\b/;
/** An index of an array is an expression: what it substitutes is run. */
const INDEX = /\[[^\]]*(?:\$\(|`)/;
const EXPRESSIONS = /^(?:let|declare|typeset|local|unset|test|\[\[?|printf|read|wait)$/;
const STDIN_FILE = /(?:^|\/)(?:stdin|fd\/+\d+)$/;

/** Words of a program that nobody knows, which may each be a command. */
const WORDS_MAX = 1_000;

interface OddWords {
  readonly program: RegExp;
  /** In all of its words, with blanks between them. */
  readonly words: RegExp;
  readonly why: OpaqueReason;
}

/** Words by which a program runs code, or by which other words mean something else. */
const ODD_WORDS: readonly OddWords[] = [
  { program: /^deno$/, words: /^(?:eval|repl)\b/, why: 'inline_code' },
  { program: /^bun$/, words: /^(?:-[ep]|--(?:eval|print))/, why: 'inline_code' },
  { program: /^g?make$/, words: /(?:^| )(?:--eval|-f?-(?: |$))/, why: 'inline_code' },
  { program: /^(?:mapfile|readarray)$/, words: /(?:^| )-\w*C/, why: 'inline_code' },
  { program: /^rpm\w*$/, words: /(?:^| )(?:--eval|-E|--pipe)/, why: 'inline_code' },
  { program: /^apt(?:-get|itude)?$/, words: /Invoke/i, why: 'inline_code' },
  {
    program: /^(?:gdb|lldb)$/,
    words:
      /(?:^| )(?:[!|]|(?:shell|pipe|python|py|pi|source|dump|append|restore|call|script)(?:[ (]|$))/,
    why: 'inline_code',
  },
  {
    program: /^(?:shopt|setopt|unsetopt)$/,
    words: /dotglob|nocaseglob|globdots|nocase/i,
    why: 'redefined',
  },
  // What is typed into another shell.
  {
    program: /^(?:sudo|doas)$/,
    words: /^(?:-u \S+ |-\S+ )*(?:-[is]|--login|--shell)$/,
    why: 'decoded_script',
  },
  {
    program: /^tmux$/,
    words: /(?:^| )(?:send|send-keys|pipe-pane|if-shell|run|run-shell|source|source-file)(?: |$)/,
    why: 'decoded_script',
  },
  { program: /^screen$/, words: /(?:^| )(?:stuff|exec|source)(?: |$)/, why: 'decoded_script' },
];

export function noteHiddenCode(outline: ScriptOutline, run: NamedRun, spec: ProgramSpec): void {
  const { path, name, args, command, feed } = run;
  const { findings } = outline;
  const isExpression = EXPRESSIONS.test(name);
  const sign = isExpression ? INDEX : COMMAND_SIGN;
  const texts = args.flatMap(({ isProse, texts: all }) => (isProse && !isExpression ? [] : all));
  const isUnknown = spec === ANY_PROGRAM && !SPECIAL_RUNS.has(name);
  const isMany = texts.length > WORDS_MAX;
  if (isUnknown && isMany) findings.addOpaque('too_large', name);
  else if (isUnknown || RUN_TEXTS.has(name)) {
    for (const text of texts) {
      if (sign.test(text)) findings.addOpaque('inline_code', text);
      else if (!isExpression) runLine(outline, run, text);
    }
  }
  if (isUnknown && !isMany) runInner(outline, run);
  for (const { program, words, why } of ODD_WORDS)
    if (program.test(name) && words.test(texts.join(' '))) findings.addOpaque(why, texts.join(' '));
  const isFed = inputTexts(command, feed) !== 'nothing';
  if (RUN_INPUT.has(name) && isFed) findings.addOpaque('decoded_script', `… | ${path}`);
  if (spec.kind !== 'interpreter' && spec.kind !== 'shell') return;
  for (const text of texts) {
    if (/^(?:--\w+=)?data:/.test(text) || /^-M.*[;(\s]/s.test(text))
      findings.addOpaque('inline_code', text);
    if (STDIN_FILE.test(text)) findings.addOpaque('decoded_script', path);
  }
}

/** A text of several words that begins with a program, `hyperfine 'cat x'`, may be run. */
function runLine(outline: ScriptOutline, run: NamedRun, text: string): void {
  const line = text.replace(/^--?[\w-]+=/, '');
  const [first = '', more] = line.trim().split(/\s+/, 2);
  if (more !== undefined && isProgram(first))
    outline.runScript(line, { ...run, depth: run.depth + 1, feed: undefined });
}

function isProgram(text: string): boolean {
  return programSpec(nameIn(text)) !== ANY_PROGRAM || /^\.{0,2}\/[\w./-]+$/.test(text);
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Options of programs that nobody knows, by which most of them name a command or code. */
const COMMAND_OPTION =
  /^--(?:[\w-]+-)?(command|cmd|exec|hook|askpass|rsh|wrapper|pager|editor|preview|eval)(?:=(.*))?$/s;

/** A program that nobody knows may run the shell, the interpreter or the command that stands behind it. */
function runInner(outline: ScriptOutline, run: NamedRun): void {
  const texts = run.args.map(({ texts: [text = ''] }) => text);
  const inner = texts.findIndex((text) =>
    /^(?:shell|interpreter)$/.test(programSpec(nameIn(text)).kind),
  );
  const dashes = texts.indexOf('--');
  const isBehind = dashes !== -1 && isProgram(texts[dashes + 1] ?? '');
  const around = { ...run, isWrapped: true, isGuess: true, feed: undefined };
  if (inner !== -1) outline.run({ ...around, args: run.args.slice(inner) });
  else if (isBehind) outline.run({ ...around, args: run.args.slice(dashes + 1) });
  for (const [index, text] of texts.entries()) {
    const [, kind, glued] = COMMAND_OPTION.exec(text) ?? [];
    const value = glued ?? texts[index + 1] ?? '';
    if (kind === undefined || value === '' || value.startsWith('-')) continue;
    if (kind === 'eval') {
      if (/[\s("'$]/.test(value)) useCode(outline, run, value);
    } else outline.runScript(value, { ...around, depth: run.depth + 1 });
  }
}

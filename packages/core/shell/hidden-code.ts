// Commands and code in the arguments and the input of programs that no table knows to run them.
import { ANY_PROGRAM, programSpec } from './programs/index.ts';
import type { ProgramSpec } from './programs/spec.ts';
import { inputTexts } from './script-input.ts';
import type { ScriptOutline } from './script-outline.ts';
import { SPECIAL_RUNS } from './special-runs.ts';
import type { NamedRun } from './use-arguments.ts';

/** Run texts that are given to them, among other things. */
const RUN_TEXTS: ReadonlySet<string> = new Set(
  `make gmake just task rake man less more complete bind mapfile readarray concurrently run-p run-s
  npm-run-all psql mysql mariadb vi vim nvim ex ed view emacs dc sqlite3 duckdb
  let declare typeset local unset test [ [[ printf read wait deno bun`.split(/\s+/),
);
/** Run what they read. */
const RUN_INPUT: ReadonlySet<string> = new Set(
  `at batch crontab ed ex vi vim nvim emacs sqlite3 duckdb m4 dc gdb lldb psql mysql mariadb jshell irb
  ghci sftp ftp telnet sudo su doas script tmux screen`.split(/\s+/),
);
/** What a message or a name does not have. */
const COMMAND_SIGN = /\$\(|`|;|&&|\|\||\s\||^[+:]?!|^\+?:?\\!/;
/** An index of an array is an expression: what it substitutes is run. */
const INDEX = /\[[^\]]*(?:\$\(|`)/;
const EXPRESSIONS = /^(?:let|declare|typeset|local|unset|test|\[\[?|printf|read|wait)$/;
const STDIN_FILE = /(?:^|\/)(?:stdin|fd\/+\d+)$/;

export function noteHiddenCode(outline: ScriptOutline, run: NamedRun, spec: ProgramSpec): void {
  const { path, name, args, command, feed } = run;
  const { findings } = outline;
  const isExpression = EXPRESSIONS.test(name);
  const sign = isExpression ? INDEX : COMMAND_SIGN;
  const texts = args.flatMap(({ isProse, texts: all }) => (isProse && !isExpression ? [] : all));
  const isUnknown = spec === ANY_PROGRAM && !SPECIAL_RUNS.has(name);
  if (isUnknown || RUN_TEXTS.has(name)) {
    for (const text of texts) if (sign.test(text)) findings.addOpaque('inline_code', text);
  }
  if (isUnknown) runInner(outline, run);
  const isFed = inputTexts(command, feed) !== 'nothing';
  if (RUN_INPUT.has(name) && isFed) findings.addOpaque('decoded_script', `… | ${path}`);
  const [first = ''] = texts;
  if (
    (name === 'deno' && /^(?:eval|repl)$/.test(first)) ||
    (name === 'bun' && /^-[ep]|^--(?:eval|print)/.test(first))
  )
    findings.addOpaque('inline_code', texts.join(' '));
  if (/^(?:make|gmake)$/.test(name) && texts.some((text) => /^--eval|^-f?-$/.test(text)))
    findings.addOpaque('inline_code', texts.join(' '));
  if (
    /^(?:shopt|setopt|unsetopt)$/.test(name) &&
    /dotglob|nocaseglob|globdots|nocase/i.test(texts.join(' '))
  )
    findings.addOpaque('redefined', texts.join(' '));
  if (/^(?:mapfile|readarray)$/.test(name) && texts.some((text) => /^-\w*C/.test(text)))
    findings.addOpaque('inline_code', texts.join(' '));
  // What is in an archive or a patch is written where its names say.
  const isPatch = name === 'patch' && !texts.some((text) => /^--dry-run$|^-\w*[do]/.test(text));
  const isUnzip = name === 'unzip' && !texts.some((text) => /^-\w*[dlptvzZ]/.test(text));
  if (isPatch || isUnzip) findings.add('write', '.', run.folders);
  if (isUnzip) findings.addPut({ from: undefined, to: '.' }, run.folders);
  if (spec.kind !== 'interpreter' && spec.kind !== 'shell') return;
  for (const text of texts) {
    if (/^(?:--\w+=)?data:/.test(text) || /^-M.*[;(\s]/s.test(text))
      findings.addOpaque('inline_code', text);
    if (STDIN_FILE.test(text)) findings.addOpaque('decoded_script', path);
  }
}

/** A program that nobody knows may run the shell or the interpreter that stands behind it. */
function runInner(outline: ScriptOutline, run: NamedRun): void {
  const at = run.args.findIndex(({ texts: [text = ''] }) =>
    /^(?:shell|interpreter)$/.test(programSpec(text.slice(text.lastIndexOf('/') + 1)).kind),
  );
  if (at !== -1)
    outline.run({ ...run, isWrapped: true, args: run.args.slice(at), feed: undefined });
}

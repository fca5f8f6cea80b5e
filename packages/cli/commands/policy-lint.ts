import { errorTitle, type Failure, isFailure, type SubCode } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import { choice, defineCommand, done, EXIT, many, orThrow } from '../input/command.ts';
import { stdinTwice } from '../input/read-file.ts';
import { formatOption } from '../input/read-option.ts';
import { type FileFinding, githubCommands, sarifLog } from '../policy/ci-reports.ts';
import { linesOf } from '../policy/load-policy.ts';
import { pinnedTools, type ReadBundle, readBundle } from '../policy/read-bundle.ts';
import { renderProblem } from '../policy/render-problem.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';
import { noteTrust } from '../trust/project-policy.ts';

/** A file that could not be read is a finding of its own; the others are still linted. */
type Linted = ReadBundle | (Failure & { readonly name: string });

const LINT_FORMATS = ['text', 'json', 'sarif', 'github'] as const;
type LintFormat = (typeof LINT_FORMATS)[number];

const REPORTS: {
  readonly [F in LintFormat]: (linted: readonly Linted[], text: () => string) => string;
} = {
  text: (_, text) => text(),
  json: (linted) => jsonText(reportOf(linted)),
  sarif: (linted) => jsonText(sarifLog(SARIF_TOOL, linted.flatMap(findingsOf))),
  github: (linted, text) => githubCommands('Policy', linted.flatMap(findingsOf)) + text(),
};

const SARIF_TOOL = { name: 'sub policy lint', describe: errorTitle };

/** A file that could not be read is an error in its first line. */
function findingsOf(linted: Linted): readonly FileFinding<SubCode>[] {
  if (isFailure(linted)) {
    const { name: file, code, message, fix } = linted;
    const position = { line: 1, column: 1 };
    return [{ level: 'error', code, file, position, message: `${message} ${fix}` }];
  }
  return linted.problems.map((problem) => {
    const end = /[.?!]$/.test(problem.message) ? '' : '.';
    return { ...problem, message: `${problem.message}${end} ${problem.fix}` };
  });
}

export const command = defineCommand({
  description: 'Reads each bundle and prints every problem with its position and a likely fix.',
  args: { file: many('Bundles in YAML or JSON; - reads standard input') },
  options: {
    strict: 'Fail on warnings too',
    format: choice(LINT_FORMATS, 'The form of the report (default: text)'),
  },
  examples: [
    'sub policy lint policy.yaml',
    'sub policy lint --strict --json policies/*.yaml',
    'sub policy lint --format sarif policies/*.yaml > policies.sarif',
  ],
  exitCodes: {
    0: 'no errors (with --strict: no warnings either); notes never fail',
    1: 'there are errors, or a file is empty or not text; with --strict: or warnings',
    2: 'wrong flags, or a file that cannot be read or is of another kind: a snapshot, a call, a key',
  },
  run: async ({ args, options }, io) => {
    const format = formatOption(options);
    orThrow(stdinTwice(args.file));
    const linted: Linted[] = [];
    const tools = await pinnedTools();
    // One after the other, so that the report keeps the order of the arguments.
    for (const path of args.file) {
      noteTrust(path, io);
      const read = await readBundle(path, io, tools);
      linted.push(isFailure(read) ? { ...read, name: path } : read);
    }
    for (const one of linted) if (isFailure(one)) reportFailure(one, io);
    const read = linted.filter((one) => !isFailure(one));
    const unread = linted.length - read.length;
    const total = linted.length > 1 ? totalOf(linted, unread) : '';
    const text = () => read.map((one) => textOf(one, io)).join('') + total;
    io.out.write(REPORTS[format](linted, text));
    const failing = options.strict ? ['error', 'warning'] : ['error'];
    const hasFailed = problemsOf(linted).some(({ level }) => failing.includes(level));
    const exitCode = hasFailed ? EXIT.findings : EXIT.fine;
    return done(unread > 0 ? EXIT.usage : exitCode);
  },
});

/** One line over all files; a file that could not be read counts as such. */
function totalOf(linted: readonly Linted[], unread: number): string {
  const found = summaryOf(problemsOf(linted));
  if (unread === 0) return `${plural(linted.length, 'file')}: ${found}\n`;
  const read = linted.length - unread;
  const rest = read === 0 ? '' : `; ${found} in ${read === 1 ? 'the other' : `the other ${read}`}`;
  return `${plural(linted.length, 'file')}: ${unread} not read${rest}\n`;
}

function problemsOf(linted: readonly Linted[]): readonly Problem[] {
  return linted.flatMap((bundle) => (isFailure(bundle) ? [] : bundle.problems));
}

function textOf(bundle: ReadBundle, io: Io): string {
  const { colors, columns } = io.out;
  const lines = linesOf(bundle.file);
  const shown = bundle.problems.map((problem) =>
    renderProblem(problem, { lines, colors, columns }),
  );
  const worst = bundle.problems.some(({ level }) => level !== 'note');
  const mark = worst ? '' : `${colors.green('✔')} `;
  return `${shown.join('')}${mark}${headOf(bundle)}${summaryOf(bundle.problems)}\n`;
}

function headOf({ file, parsed }: ReadBundle): string {
  const name = harmless(file.name);
  return parsed.ok ? `${name}: ${plural(parsed.bundle.rules.length, 'rule')}, ` : `${name}: `;
}

function summaryOf(problems: readonly Problem[]): string {
  const counts = Object.entries(countsOf(problems)).filter(([, count]) => count > 0);
  const parts = counts.map(([name, count]) => plural(count, name.slice(0, -1)));
  return parts.join(', ') || 'no problems';
}

function countsOf(problems: readonly Problem[]) {
  const count = (level: Problem['level']) =>
    problems.filter((problem) => problem.level === level).length;
  return { errors: count('error'), warnings: count('warning'), notes: count('note') };
}

function reportOf(linted: readonly Linted[]) {
  return {
    files: linted.map((bundle) => {
      if (isFailure(bundle)) {
        const { name, code, message, fix } = bundle;
        return { file: name, ok: false, rules: null, problems: [], error: { code, message, fix } };
      }
      const { file, parsed, problems } = bundle;
      const rules = parsed.ok ? parsed.bundle.rules.length : null;
      return { file: file.name, ok: parsed.ok, rules, problems };
    }),
    summary: countsOf(problemsOf(linted)),
  };
}

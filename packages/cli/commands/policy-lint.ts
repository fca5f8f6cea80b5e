import { type Failure, isFailure } from '@subluminal/contracts';
import type { Problem } from '@subluminal/core/policy';
import { defineCommand, EXIT, many, orThrow, printout } from '../input/command.ts';
import { stdinTwice } from '../input/read-file.ts';
import { linesOf, pinnedTools, type ReadBundle, readBundle } from '../policy/load-policy.ts';
import { renderProblem } from '../policy/render-problem.ts';
import type { Io } from '../terminal/io.ts';
import { reportFailure } from '../terminal/report-failure.ts';
import { harmless, plural } from '../terminal/text.ts';
import { noteTrust } from '../trust/project-policy.ts';

/** A file that could not be read is a finding of its own; the others are still linted. */
type Linted = ReadBundle | (Failure & { readonly name: string });

export const command = defineCommand({
  description: 'Reads each bundle and prints every problem with its position and a likely fix.',
  args: { file: many('Bundles in YAML or JSON; - reads standard input') },
  options: { strict: 'Fail on warnings too' },
  examples: ['sub policy lint policy.yaml', 'sub policy lint --strict --json policies/*.yaml'],
  exitCodes: {
    0: 'no errors (with --strict: no warnings either); notes never fail',
    1: 'there are errors, or a file is empty or not text; with --strict: or warnings',
    2: 'wrong flags, or a file that cannot be read or is of another kind: a snapshot, a call, a key',
  },
  run: async ({ args, options }, io) => {
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
    const text = read.map((one) => textOf(one, io)).join('') + total;
    const failing = options.strict ? ['error', 'warning'] : ['error'];
    const hasFailed = problemsOf(linted).some(({ level }) => failing.includes(level));
    const exitCode = hasFailed ? EXIT.findings : EXIT.fine;
    return printout(reportOf(linted), text, unread > 0 ? EXIT.usage : exitCode);
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

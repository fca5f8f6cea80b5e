import { failure, isFailure } from '@subluminal/contracts';
import { diffBundles, formatDiff, type PolicyDiff } from '@subluminal/core/policy';
import { choice, defineCommand, done, EXIT, required } from '../input/command.ts';
import { STDIO } from '../input/read-file.ts';
import { BAD_POLICY, JSON_FLAG } from '../input/shared-options.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import type { Colors } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Compares what two policies do, not how they are written. Critical: a call that was stopped may now pass.',
  args: {
    old: required('The old bundle or snapshot'),
    new: required('The new bundle or snapshot'),
  },
  options: {
    'fail-on': choice(['critical', 'warn', 'any'], 'The least change that fails (default: warn)'),
    json: JSON_FLAG,
  },
  examples: [
    'sub policy diff main.yaml branch.yaml',
    'git show main:policy.yaml | sub policy diff - policy.yaml --fail-on any',
  ],
  exitCodes: {
    0: 'no change reaches the threshold',
    1: 'a change reaches the threshold of --fail-on',
    2: BAD_POLICY,
  },
  run: async ({ args, options }, io) => {
    if (args.old === STDIO && args.new === STDIO) {
      const message = 'standard input can be only one of the two.';
      return failure('SUB_USAGE', message, 'Write one of them to a file.');
    }
    const before = await loadPolicy(args.old, { io });
    if (isFailure(before)) return before;
    const after = await loadPolicy(args.new, { io });
    if (isFailure(after)) return after;
    const diff = diffBundles(before.snapshot.document, after.snapshot.document);
    io.out.write(options.json ? jsonText(diff) : `${painted(formatDiff(diff), io.out.colors)}\n`);
    return done(reaches(diff, options['fail-on'] ?? 'warn') ? EXIT.findings : EXIT.fine);
  },
});

/** What can't be told to be harmless fails too: it is what somebody who means harm would write. */
function reaches({ summary, same }: PolicyDiff, threshold: 'critical' | 'warn' | 'any'): boolean {
  if (threshold === 'any') return !same;
  return summary.critical > 0 || (threshold === 'warn' && summary.warn > 0);
}

/** The sign at the start of a line is its severity. */
function painted(text: string, colors: Colors): string {
  const paint = (line: string) => {
    if (line.startsWith('!')) return colors.red(line);
    return line.startsWith('~') ? colors.yellow(line) : line;
  };
  return text.split('\n').map(paint).join('\n');
}

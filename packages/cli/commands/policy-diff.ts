import { diffBundles, formatDiff, type PolicyDiff } from '@subluminal/core/policy';
import { choice, defineCommand, EXIT, orThrow, printout } from '../input/command.ts';
import { stdinTwice } from '../input/read-file.ts';
import { BAD_POLICY } from '../input/shared-options.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { paintedBySign } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Compares what two policies do, not how they are written. Critical: a call that was stopped may now pass.',
  args: {
    old: 'The old bundle or snapshot',
    new: 'The new bundle or snapshot',
  },
  options: {
    'fail-on': choice(['critical', 'warn', 'any'], 'The least change that fails (default: warn)'),
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
    orThrow(stdinTwice([args.old, args.new]));
    const before = orThrow(await loadPolicy(args.old, { io }));
    const after = orThrow(await loadPolicy(args.new, { io }));
    const diff = diffBundles(before.snapshot.document, after.snapshot.document);
    return printout(
      diff,
      `${paintedBySign(formatDiff(diff), io.out.colors)}\n`,
      reaches(diff, options['fail-on'] ?? 'warn') ? EXIT.findings : EXIT.fine,
    );
  },
});

/** What can't be told to be harmless fails too: it is what somebody who means harm would write. */
function reaches({ summary, same }: PolicyDiff, threshold: 'critical' | 'warn' | 'any'): boolean {
  if (threshold === 'any') return !same;
  return summary.critical > 0 || (threshold === 'warn' && summary.warn > 0);
}

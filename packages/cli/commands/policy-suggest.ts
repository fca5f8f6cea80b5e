import { failure } from '@subluminal/contracts';
import { suggestPolicy } from '@subluminal/core/suggest';
import { shellWord } from '@subluminal/core/visible';
import { badUsage, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { timeOption } from '../input/read-option.ts';
import { createNewFile, occupied, replaceFile } from '../input/write-file.ts';
import { eventsOfRun, recentEvents } from '../ledger/recorded-events.ts';
import { readFreshLedger } from '../ledger/user-ledger.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

const POLICY_MODE = 0o644;

export const command = defineCommand({
  description:
    'Writes a least-privilege policy from recorded calls: the tools that were used pass, on the paths of the project where they only used those; tools that destroy ask a person; budgets are twice the most that a run needed; all other tools are refused. Comments have the counts. No argument is repeated in it but names of folders. Run it in the folder of the project, and review the result.',
  options: {
    run: textOption('id', 'Only this run; `last` is the newest (default: the newest 100 runs)'),
    since: textOption('time', 'Only runs that began since: 2026-01-31T12:00:00Z, or 2h, 3d ago'),
    out: textOption('file', 'Write the policy to this file instead of standard output', 'o'),
    force: 'Overwrite the file of --out',
  },
  examples: [
    'sub policy suggest',
    'sub policy suggest --run last --out policy.yaml',
    'sub policy suggest --since 7d -o policy.yaml --force',
  ],
  exitCodes: {
    0: 'the policy is printed or written',
    2: 'wrong flags, no recorded calls, or a file or ledger that cannot be read or written',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const { run, since, out, force: isForced } = options;
    if (run !== undefined && since !== undefined) {
      return badUsage('--run and --since exclude each other.', 'Give one.');
    }
    if (isForced && out === undefined) {
      return badUsage('--force needs a file to overwrite.', 'Name it with --out.');
    }
    const there = out === undefined || isForced ? undefined : await occupied(out);
    if (there !== undefined) {
      return { ...there, fix: 'Choose another name, or overwrite it with --force.' };
    }
    const nowMs = Date.now();
    const fromMs = timeOption('since', since, nowMs);
    const { events, prunedCount } = orThrow(
      await readFreshLedger(io, (reader) =>
        run === undefined ? recentEvents(reader, fromMs) : eventsOfRun(reader, run),
      ),
    );
    if (prunedCount > 0) warn(io, `pruned: ${plural(prunedCount, 'event')}.`);
    const version = new Date(nowMs).toISOString().slice(0, 10);
    const { calls, text } = suggestPolicy(events, { project: process.cwd(), version });
    if (calls === 0) {
      const fix = 'Use an agent with `sub run` or after `sub import`, or start with `sub init`.';
      return failure('SUB_LEDGER_QUERY', 'no call that passed is on record there.', fix);
    }
    if (out === undefined) return printout({ calls, policy: text }, text);
    const file = { path: out, text, mode: POLICY_MODE };
    orThrow(await (isForced ? replaceFile(out, text) : createNewFile(file)));
    const told = `${plural(calls, 'call')} read. Review ${out}, and check it: sub policy lint ${shellWord(out)}`;
    return printout({ calls, policy: text, file: out }, harmlessLine(told));
  },
});

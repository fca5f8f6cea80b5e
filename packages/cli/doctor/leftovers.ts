// What waits for the ledger, and what agents that are gone have left behind.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../terminal/text.ts';
import { broken, type Check, type Finding, ok, warn } from './check.ts';
import { ageText, codeOf, sizeText } from './words.ts';

interface Left {
  readonly name: string;
  readonly bytes: number;
  readonly ageMs: number;
}

const SPOOLED = /\.jsonl(?:\.\d{1,9}\.part)?$/;
const WAITS_MAX_MS = 3_600_000;

export const spool: Check = {
  id: 'spool',
  run: async ({ paths, nowMs }) =>
    looked(paths.spool, nowMs, (found) => {
      const waiting = found.filter(({ name }) => SPOOLED.test(name));
      if (waiting.length === 0) return ok('nothing waits for the ledger');
      const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0);
      const oldestMs = Math.max(...waiting.map(({ ageMs }) => ageMs));
      const text = `${plural(waiting.length, 'file')} (${sizeText(bytes)}) for the ledger, the oldest ${ageText(oldestMs)} old`;
      if (oldestMs < WAITS_MAX_MS) return ok(text);
      return warn(text, `Run: sub ingest ${paths.spool}`);
    }),
};

/** Of an agent that is gone, or of a run that has ended. */
const RUN_FILE = /^(?:agent-(\d{1,10})-.+\.json|hub-.+\.sock|ledgerd\.starting)$/;
const STALE_MS = 86_400_000;

export const runFiles: Check = {
  id: 'run-files',
  run: async ({ paths, nowMs }) =>
    looked(paths.run, nowMs, (found) => {
      const ours = found.filter(({ name }) => RUN_FILE.test(name));
      // A young one may be in use, and the next run removes what is not.
      const stale = ours.filter(({ name, ageMs }) => ageMs > STALE_MS && !isRunning(name));
      if (stale.length === 0) return ok(`${plural(ours.length, 'file')} of runs, none is stale`);
      return warn(
        `${plural(stale.length, 'file')} of runs that are long over in ${paths.run}`,
        'The next agent removes them; or remove them yourself.',
      );
    }),
};

function isRunning(name: string): boolean {
  const pid = Number(RUN_FILE.exec(name)?.[1] ?? Number.NaN);
  if (Number.isNaN(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // Someone else's process is a process, too.
    return codeOf(cause) === 'EPERM';
  }
}

const FILES_MAX = 100_000;

async function looked(
  folder: string,
  nowMs: number,
  judge: (found: readonly Left[]) => Finding,
): Promise<Finding> {
  try {
    const names = readdirSync(folder).slice(0, FILES_MAX);
    return judge(
      names.flatMap((name) => {
        const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
        return stats === undefined
          ? []
          : [{ name, bytes: stats.size, ageMs: Math.max(0, nowMs - stats.mtimeMs) }];
      }),
    );
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT') return judge([]);
    return broken(`${folder} cannot be read (${code})`, 'Check its permissions.');
  }
}

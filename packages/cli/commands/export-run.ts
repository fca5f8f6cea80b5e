import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import { exportRun, type RunExport, type StoreReader } from '@subluminal/plane/ledger';
import { makeFolders, refuseLink } from '@subluminal/plane/os';
import { badUsage, defineCommand, orThrow, printout, textOption } from '../input/command.ts';
import { errorCode } from '../input/read-file.ts';
import { RUN_ID_DOC } from '../input/shared-options.ts';
import { occupied, unwritable } from '../input/write-file.ts';
import { findRun, readFreshLedger, unknownRun } from '../ledger/user-ledger.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

const FILES = ['events.jsonl', 'policy.json', 'summary.json', 'summary.md'] as const;
/** Previews may hold private data. */
const FILE_MODE = 0o600;
const FLUSH_LENGTH = 262_144;
const POLICIES_MAX = 1_000;

export const command = defineCommand({
  description:
    'Writes events.jsonl, policy.json, summary.json and summary.md of one run into a folder.',
  args: { id: RUN_ID_DOC },
  options: {
    out: textOption('dir', 'The folder for the files; it is created', 'o'),
    force: 'Overwrite existing files',
  },
  examples: [
    'sub export run last -o trace',
    'sub export run 0198c0de-7a11-7000-8000-000000000001 -o trace',
  ],
  exitCodes: {
    0: 'the files are written',
    2: 'wrong flags, no such run, files that exist, or no ledger',
  },
  run: async ({ args, options }, io) => {
    const { out } = options;
    if (out === undefined || out === '') {
      return badUsage('no folder is given.', 'Name one with -o.');
    }
    for (const name of options.force ? [] : FILES) {
      const taken = await occupied(join(out, name));
      if (taken !== undefined) return { ...taken, fix: 'Choose another folder, or add --force.' };
    }
    const written = orThrow(await readFreshLedger(io, (reader) => writeRun(reader, args.id, out)));
    const { run_id, status, events_total, totals } = written.summary;
    const facts = { run_id, status, out: resolve(out), files: FILES, events: events_total, totals };
    const text = `Wrote ${FILES.join(', ')} of ${run_id} to ${out}: ${plural(totals.calls_total, 'call')}, ${totals.calls_blocked + totals.calls_throttled} refused.`;
    return printout(facts, harmlessLine(text));
  },
});

/** `name` is the id of the run, or `last`. */
async function writeRun(
  reader: StoreReader,
  name: string,
  out: string,
): Promise<RunExport | Failure> {
  const runId = orThrow(await findRun(reader, name));
  const policies = await reader.policies(POLICIES_MAX);
  return reader.snapshot(async (view) => {
    const exported = await exportRun(view, runId);
    if (exported === undefined) return unknownRun(runId);
    const { policy } = exported;
    const known = policies.find(({ rules_hash }) => rules_hash === policy?.policy_hash);
    // With the rules it is a snapshot, which `sub policy` reads.
    const snapshot: unknown = known?.rules_json ? JSON.parse(known.rules_json) : null;
    const wrong = await writeFiles(exported, out, policy && { ...policy, snapshot });
    return wrong ?? exported;
  });
}

/** All files are complete before the first of them appears under its name. */
async function writeFiles(
  exported: RunExport,
  out: string,
  policy: unknown,
): Promise<Failure | undefined> {
  const next = join(out, `.${randomBytes(6).toString('hex')}`);
  try {
    refuseLink(out);
    makeFolders(resolve(next));
    const texts = {
      'policy.json': `${JSON.stringify(policy, null, 2)}\n`,
      'summary.json': `${JSON.stringify(exported.summary, null, 2)}\n`,
      'summary.md': exported.markdown,
    };
    for (const [name, text] of Object.entries(texts)) {
      await writeFile(join(next, name), text, { mode: FILE_MODE });
    }
    await writeLines(await open(join(next, 'events.jsonl'), 'wx', FILE_MODE), exported);
    for (const name of FILES) await rename(join(next, name), join(out, name));
    return undefined;
  } catch (cause) {
    return unwritable(out, errorCode(cause));
  } finally {
    await rm(next, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function writeLines(handle: FileHandle, exported: RunExport): Promise<void> {
  try {
    let text = '';
    for await (const line of exported.lines()) {
      text += `${line}\n`;
      if (text.length < FLUSH_LENGTH) continue;
      await handle.write(text);
      text = '';
    }
    if (text !== '') await handle.write(text);
  } finally {
    await handle.close();
  }
}

// A trace bundle: what a CI job keeps of a run. The events are in it from the first one on, so a
// run that was killed leaves them; the rest is written at the end.
import { randomBytes } from 'node:crypto';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PolicyRef } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { type RunSummary, summaryMarkdown } from '../../stores/ledger/export/index.ts';
import type { LoadedPolicy } from './account.ts';
import { linesBehind } from './event-lines.ts';
import { EVENTS_FILE, type Trace } from './trace.ts';

interface BundleContent {
  readonly trace: Trace;
  readonly runId: string;
  readonly snapshot: Snapshot;
  readonly policies: readonly LoadedPolicy[];
  readonly summary: RunSummary;
}

/** Previews may hold what is nobody else's business. */
const FILE_MODE = 0o600;
const FLUSH_LENGTH = 262_144;

/** Every file is whole before it appears under its name. */
export async function writeBundle(dir: string, content: BundleContent): Promise<void> {
  const { summary, trace } = content;
  const suffix = randomBytes(6).toString('hex');
  const put = async (name: string, write: (path: string) => Promise<void>): Promise<void> => {
    const next = join(dir, `.${name}.${suffix}`);
    try {
      await write(next);
      await rename(next, join(dir, name));
    } finally {
      await rm(next, { force: true });
    }
  };
  const text = (words: string) => (path: string) =>
    writeFile(path, words, { mode: FILE_MODE, flag: 'wx' });
  if (trace.file?.path !== join(dir, EVENTS_FILE)) {
    await put(EVENTS_FILE, (path) => copyEvents(path, content));
  }
  await put('policy.json', text(jsonText(policyOf(content))));
  await put('summary.json', text(jsonText(summary)));
  await put('summary.md', text(summaryMarkdown(summary)));
}

/** The lines of this run alone: the file they are in may be that of many. */
async function copyEvents(path: string, { trace, runId }: BundleContent): Promise<void> {
  const target = await open(path, 'wx', FILE_MODE);
  try {
    if (trace.file === undefined) return;
    let text = '';
    for await (const line of linesBehind(trace.file.path, trace.file.fromByte)) {
      if (!isOf(line, runId)) continue;
      text += `${line}\n`;
      if (text.length < FLUSH_LENGTH) continue;
      await target.appendFile(text);
      text = '';
    }
    if (text !== '') await target.appendFile(text);
  } finally {
    await target.close();
  }
}

function isOf(line: string, runId: string): boolean {
  if (!line.includes(runId)) return false;
  try {
    const value: unknown = JSON.parse(line);
    return (
      typeof value === 'object' && value !== null && 'run_id' in value && value.run_id === runId
    );
  } catch {
    return false;
  }
}

/** The policy that the run began with, as a snapshot file, and the others that its shims had. */
function policyOf({ snapshot, policies }: BundleContent) {
  const { ref, document } = snapshot;
  const isOther = ({ policy_hash }: PolicyRef) => policy_hash !== ref.policy_hash;
  return { ...ref, snapshot: document, also_loaded: policies.filter(isOther) };
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

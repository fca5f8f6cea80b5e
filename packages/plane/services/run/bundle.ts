// A trace bundle: what a CI job keeps of a run. The events are in it from the first one on, so a
// run that was killed leaves them; the rest is written at the end.
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type PolicyRef } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { parseJson, replaceOutput } from '../../os/index.ts';
import { type RunSummary, summaryMarkdown } from '../../stores/ledger/export/index.ts';
import type { RunPolicyLoad } from './account.ts';
import { linesBehind } from './event-lines.ts';
import { EVENTS_FILE, type Trace } from './trace.ts';

interface BundleContent {
  readonly trace: Trace;
  readonly runId: string;
  readonly snapshot: Snapshot;
  readonly policies: readonly RunPolicyLoad[];
  readonly summary: RunSummary;
}

/** Previews may hold private data. */
const FILE_MODE = 0o600;

/** Every file is whole before it appears under its name. */
export async function writeBundle(dir: string, content: BundleContent): Promise<void> {
  const { summary, trace } = content;
  const put = (name: string, text: string) =>
    replaceOutput(join(dir, name), text, { mode: FILE_MODE });
  if (trace.file?.path !== join(dir, EVENTS_FILE)) await copyEvents(dir, content);
  await put('policy.json', jsonText(bundlePolicy(content)));
  await put('summary.json', jsonText(summary));
  await put('summary.md', summaryMarkdown(summary));
}

/** Copies the lines of this run alone: the file may hold those of many runs. */
async function copyEvents(dir: string, { trace, runId }: BundleContent): Promise<void> {
  const draft = join(dir, `.${EVENTS_FILE}.${randomBytes(6).toString('hex')}`);
  const lines = trace.file === undefined ? [] : linesBehind(trace.file.path, trace.file.fromByte);
  try {
    await writeFile(draft, linesOfRun(lines, runId), { mode: FILE_MODE, flag: 'wx' });
    await rename(draft, join(dir, EVENTS_FILE));
  } finally {
    await rm(draft, { force: true });
  }
}

async function* linesOfRun(
  lines: AsyncIterable<string> | Iterable<string>,
  runId: string,
): AsyncGenerator<string> {
  for await (const line of lines) {
    const event = line.includes(runId) ? parseJson(line) : undefined;
    if (isObject(event) && event['run_id'] === runId) yield `${line}\n`;
  }
}

/** The policy that the run began with, as a snapshot file, and the others that its shims had. */
function bundlePolicy({ snapshot, policies }: BundleContent) {
  const { ref, document } = snapshot;
  const isOther = ({ policy_hash }: PolicyRef) => policy_hash !== ref.policy_hash;
  return { ...ref, snapshot: document, also_loaded: policies.filter(isOther) };
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

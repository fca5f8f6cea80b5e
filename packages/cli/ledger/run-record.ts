// One run as the ledger knows it: who started it, what it did, and where it was decided by less than it should be.
import { type Failure, isFailure } from '@subluminal/contracts';
import {
  type RunRow,
  RunSummarizer,
  type RunSummary,
  type StoreReader,
} from '@subluminal/plane/ledger';
import type { Output } from '../terminal/io.ts';
import { durationText, harmless, plural } from '../terminal/text.ts';
import { eventRows, runNamed } from './user-ledger.ts';

export interface RunRecord {
  readonly run: RunRow;
  readonly summary: RunSummary;
  /** There are more events in the run than were looked at. */
  readonly hasMore: boolean;
}

const EVENTS_MAX = 200_000;
const LABEL_WIDTH = 11;
const WARNINGS_SHOWN = 50;

/** By the id of the run, or by a part of it; undefined where there is none. */
export async function runRecord(
  reader: StoreReader,
  name: string,
): Promise<RunRecord | Failure | undefined> {
  const runId = await runNamed(reader, name);
  if (runId === undefined || isFailure(runId)) return runId;
  const run = await reader.run(runId);
  if (run === undefined) return undefined;
  const summarizer = new RunSummarizer();
  let seen = 0;
  for await (const { line } of eventRows(reader, { runId })) {
    if (++seen > EVENTS_MAX) break;
    if (line !== null) summarizer.addLine(line);
  }
  return { run, summary: summarizer.finish(), hasMore: seen > EVENTS_MAX };
}

export function runText({ run, summary, hasMore }: RunRecord, { colors }: Output): string {
  const facts = runFacts(run);
  const { warnings, warnings_total: total } = summary;
  const shown = warnings.slice(0, WARNINGS_SHOWN).map(({ ts, reason }) => `  ${ts}  ${reason}`);
  const more = total - shown.length;
  const lines = [
    colors.bold(`run ${harmless(run.run_id)}`),
    ...facts.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${harmless(text)}`),
    ...(total === 0 ? [] : [colors.bold('warnings'), ...shown.map(harmless)]),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(hasMore ? ['(the run has more events than were looked at)'] : []),
    harmless(`Its calls: sub query --run ${run.run_id}`),
  ];
  return `${lines.join('\n')}\n`;
}

function runFacts(run: RunRow): readonly (readonly [label: string, text: string])[] {
  const { calls, started_at_ms, first_at_ms, last_at_ms, ended_at_ms, policy_id } = run;
  const startMs = started_at_ms ?? first_at_ms;
  const took = durationText((ended_at_ms ?? last_at_ms) - startMs);
  const by = [run.client, run.env].filter((part) => (part ?? '') !== '').join(', ');
  const refused = calls.blocked + calls.throttled;
  const counts = [
    plural(calls.total, 'call'),
    `${calls.allowed} allowed`,
    `${refused} refused`,
    plural(calls.errors, 'error'),
  ];
  return [
    ['when', new Date(startMs).toISOString()],
    ['who', `${run.principal ?? 'unknown'}, agent ${run.agent_id ?? 'unknown'} (${by})`],
    ['end', run.status === null ? 'RUNNING' : `${run.status} after ${took}`],
    ['calls', counts.join(', ')],
    ...(policy_id === null
      ? []
      : [['policy', `${policy_id} ${run.policy_version ?? ''}, ${run.mode ?? ''}`] as const]),
  ];
}

export function runDocument({ run, summary, hasMore }: RunRecord): object {
  const { warnings, warnings_total } = summary;
  return { run, warnings, warnings_total, has_more_events: hasMore };
}

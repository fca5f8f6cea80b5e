// The end of a run: what it did, its last event, and the bundle. Loaded when the agent has started,
// so that nothing of it keeps the agent waiting.
import type { EventWriter, ShimSummary } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { accountOf, gatherEvents, type Read } from './account.ts';
import { writeBundle } from './bundle.ts';
import type { Account, AgentEnd, RunOptions, RunStatus } from './options.ts';
import type { Trace } from './trace.ts';

interface FinishOptions {
  readonly options: RunOptions;
  readonly runId: string;
  readonly snapshot: Snapshot;
  readonly trace: Trace;
  readonly writer: EventWriter;
  readonly counted: ShimSummary;
  readonly agent: AgentEnd;
  readonly startedMs: number;
  readonly isTerminated: boolean;
}

interface Finished {
  readonly status: RunStatus;
  readonly account: Account;
  readonly warnings: readonly string[];
}

const FLUSH_MS = 5_000;
/** What a person or a job control sends; whatever else kills an agent is a failure of its own. */
const CANCELLING: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']);

async function finishRun(finish: FinishOptions): Promise<Finished> {
  const { options, runId, trace, writer, counted } = finish;
  await trace.sink.flush(FLUSH_MS);
  const read = await gatherEvents({ runId, trace, options });
  const account = accountOf(read, counted);
  const status = statusOf(finish, account);
  const line = endLine(writer, { account, status, startedMs: finish.startedMs });
  trace.sink.write({ line, kind: 'durable' });
  trace.sink.push();
  await trace.sink.close(FLUSH_MS);
  if (!read.ok) return { status, account, warnings: [] };
  read.gathered.summarizer.addLine(line);
  const warnings = await keepBundle(finish, read);
  if (account.kind === 'counted') return { status, account, warnings };
  return {
    status,
    account: { kind: 'events', summary: read.gathered.summarizer.finish() },
    warnings,
  };
}

function statusOf({ agent, isTerminated }: FinishOptions, account: Account): RunStatus {
  // A shim that found no hub ends the run for itself; its events still say so.
  const isEnded = account.kind === 'events' && account.summary.decisions.TERMINATE_RUN > 0;
  if (isTerminated || isEnded || agent.asked === 'policy') return 'TERMINATED';
  if (agent.asked === 'signal') return 'CANCELLED';
  if (agent.signal !== null && CANCELLING.has(agent.signal)) return 'CANCELLED';
  return agent.code === 0 ? 'SUCCEEDED' : 'FAILED';
}

interface EndOptions {
  readonly account: Account;
  readonly status: RunStatus;
  readonly startedMs: number;
}

function endLine(writer: EventWriter, { account, status, startedMs }: EndOptions): string {
  const ended_at = new Date().toISOString();
  const { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total } =
    totalsOf(account);
  const duration_ms = Math.max(0, Math.round(performance.now() - startedMs));
  const counts = { calls_total, calls_allowed, calls_blocked, calls_throttled, errors_total };
  const run = { ended_at, status, summary: { ...counts, duration_ms } };
  return writer.line('run_end', { run }, ended_at);
}

function totalsOf(account: Account): ShimSummary {
  return account.kind === 'events' ? account.summary.totals : account.totals;
}

async function keepBundle(
  { options, runId, snapshot, trace }: FinishOptions,
  { gathered }: Extract<Read, { readonly ok: true }>,
): Promise<readonly string[]> {
  const { bundle } = options;
  if (bundle === undefined) return [];
  const { policies, summarizer } = gathered;
  try {
    const summary = summarizer.finish();
    await writeBundle(bundle.dir, { trace, runId, snapshot, policies, summary });
    return [];
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    return [`the bundle in ${bundle.dir} is not complete: ${words}.`];
  }
}

export { finishRun };

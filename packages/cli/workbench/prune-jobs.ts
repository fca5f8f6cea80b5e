// Prunes the ledger for the API, one request at a time.
import {
  type ApiPrune,
  type ApiPruneJob,
  catchFailure,
  type Failure,
  isFailure,
  tableFailure,
} from '@subluminal/contracts';
import { countStale, type WorkbenchHost } from '@subluminal/plane/daemon';
import type { PruneFilter } from '@subluminal/plane/ingest';
import { pruneRequests } from '../ledger/prune-requests.ts';

export class PruneJobs {
  readonly #host: WorkbenchHost;
  #last: ApiPruneJob | null = null;

  constructor(host: WorkbenchHost) {
    this.#host = host;
  }

  get last(): ApiPruneJob | null {
    return this.#last;
  }

  /** A dry run changes nothing, and is not kept as the last one. */
  async start(input: ApiPrune): Promise<ApiPruneJob | Failure> {
    const { older_than_ms: olderThanMs, keep_runs: keepRuns, dry_run = false } = input;
    const isPreviewsOnly = input.previews_only === true;
    const nowMs = Date.now();
    const { config } = this.#host.home;
    const requests = pruneRequests({ olderThanMs, keepRuns, isPreviewsOnly }, config, nowMs);
    const begun = {
      state: 'running',
      started_at_ms: nowMs,
      ended_at_ms: null,
      error: null,
    } as const;
    const job: ApiPruneJob = { ...begun, dry_run, steps: [] };
    if (dry_run) return this.#run(job, requests, () => undefined);
    if (this.#last?.state === 'running') return tableFailure('SUB_API_BUSY', 'A prune runs.');
    this.#last = job;
    void this.#run(job, requests, (next) => {
      this.#last = next;
    });
    return job;
  }

  /** Each step is told of when it is done. */
  async #run(
    started: ApiPruneJob,
    requests: readonly PruneFilter[],
    tell: (job: ApiPruneJob) => void,
  ): Promise<ApiPruneJob> {
    const { ledger, sync, log } = this.#host;
    const steps: ApiPruneJob['steps'][number][] = [];
    const work = async () => {
      // Lines that have arrived are committed first: they came before.
      await sync();
      for (const request of requests) {
        const counts = await (started.dry_run
          ? countStale(ledger, request)
          : ledger.prune(request));
        steps.push({ ...stepOf(request), ...counts });
        tell({ ...started, steps: [...steps] });
      }
    };
    const failed = await catchFailure(work).catch((cause: unknown) => {
      log(`the ledger could not be pruned: ${String(cause)}`);
      return tableFailure('SUB_INTERNAL');
    });
    const error = isFailure(failed)
      ? { code: failed.code, message: failed.message, fix: failed.fix }
      : null;
    const state = error === null ? 'done' : 'failed';
    const job: ApiPruneJob = { ...started, steps, state, ended_at_ms: Date.now(), error };
    tell(job);
    return job;
  }
}

function stepOf({ what = 'all', olderThanMs, keepRuns }: PruneFilter) {
  return { what, older_than_ms: olderThanMs ?? null, keep_runs: keepRuns ?? null };
}

// All calls of a run, as far as they can be shown, kept up to date while it goes on.
import type { ApiCall } from '@subluminal/contracts';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { ask } from '../../api/ledger.ts';
import { type Signal, useLiveSignal } from '../../api/live-signal.ts';

const PAGE_ROWS = 1_000;
/** Older calls of a longer run are left out. */
export const RUN_CALLS_MAX = 20_000;
/** How many of the newest are asked for again when something was recorded, and how many older ones. */
const FRESH_ROWS = 200;
const OLDER_MAX = 20;

export interface RunCalls {
  /** By their start. */
  readonly calls: readonly ApiCall[];
  readonly isCut: boolean;
}

export function useRunCalls(runId: string) {
  const client = useQueryClient();
  const follower = useRef<RunFollower>(null);
  useLiveSignal((signal) => {
    follower.current ??= new RunFollower(runId, client);
    follower.current.take(signal);
  });
  return useQuery({
    queryKey: callsKey(runId),
    queryFn: ({ signal }) =>
      askCalls(runId, signal, (part) => {
        // What is new meanwhile stays, and the newest calls are shown while older ones are asked for.
        const key = callsKey(runId);
        const now = client.getQueryData<RunCalls>(key)?.calls ?? [];
        const known = { ...part, calls: merged(part.calls, now) };
        client.setQueryData<RunCalls>(key, known);
        return known;
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function callsKey(runId: string): readonly unknown[] {
  return ['calls', 'run', runId];
}

async function askCalls(
  runId: string,
  signal: AbortSignal,
  keep: (part: RunCalls) => RunCalls,
): Promise<RunCalls> {
  const rows: ApiCall[] = [];
  let known: RunCalls = { calls: [], isCut: false };
  let next: string | null = '';
  while (next !== null && rows.length < RUN_CALLS_MAX) {
    const cursor: string = next;
    const query = { run_id: runId, limit: PAGE_ROWS, ...(cursor !== '' && { cursor }) };
    const page = await ask('calls', { query }, signal);
    rows.push(...page.rows);
    next = page.next;
    known = keep({ calls: rows, isCut: next !== null && rows.length >= RUN_CALLS_MAX });
  }
  return known;
}

function inOrder(calls: readonly ApiCall[]): readonly ApiCall[] {
  return calls.toSorted(
    (one, other) => one.created_at_ms - other.created_at_ms || one.id - other.id,
  );
}

/** The argument that tells most. */
export function argumentOf(call: ApiCall | undefined): string | null {
  return call?.kind === 'tool_call' ? call.argument : null;
}

/** Asks for what has changed, one question at a time. */
class RunFollower {
  readonly #runId: string;
  readonly #client: QueryClient;
  readonly #changed = new Set<string>();
  #isAsking = false;

  constructor(runId: string, client: QueryClient) {
    this.#runId = runId;
    this.#client = client;
  }

  take({ calls, isAll }: Signal): void {
    if (isAll) void this.#client.invalidateQueries({ queryKey: callsKey(this.#runId) });
    for (const { runId, callId } of calls) if (runId === this.#runId) this.#changed.add(callId);
    if (this.#changed.size > 0 && !this.#isAsking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      while (this.#changed.size > 0) {
        const changed = [...this.#changed];
        this.#changed.clear();
        await this.#refresh(changed);
      }
    } catch {
      // The next signal asks again.
    } finally {
      this.#isAsking = false;
    }
  }

  async #refresh(changed: readonly string[]): Promise<void> {
    const key = callsKey(this.#runId);
    const known = this.#client.getQueryData<RunCalls>(key);
    if (known === undefined) return;
    const query = { run_id: this.#runId, limit: FRESH_ROWS };
    const { rows, next } = await ask('calls', { query });
    const ids = new Set(known.calls.map(({ id }) => id));
    const hasHole = next !== null && rows.every(({ id }) => !ids.has(id));
    const fresh = new Set(rows.map(({ call_id }) => call_id));
    const older = changed.filter((callId) => !fresh.has(callId));
    if (hasHole || older.length > OLDER_MAX) {
      await this.#client.invalidateQueries({ queryKey: key });
      return;
    }
    const again = await Promise.all(
      older.map(async (call_id) => ({
        argument: argumentOf(known.calls.find((call) => call.call_id === call_id)),
        ...(await ask('call', { ids: { run_id: this.#runId, call_id } })),
      })),
    );
    this.#client.setQueryData<RunCalls>(key, (now = known) => ({
      ...now,
      calls: merged(now.calls, [...rows, ...again]),
    }));
  }
}

/** A call goes only forward: of two rows, the one that knows more of it is the later. */
function merged(calls: readonly ApiCall[], fresh: readonly ApiCall[]): readonly ApiCall[] {
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (const call of fresh) {
    const known = byId.get(call.id);
    if (known === undefined || progress(call) >= progress(known)) byId.set(call.id, call);
  }
  return inOrder([...byId.values()]);
}

function progress({ status, decision }: ApiCall): number {
  if (status !== null) return 2;
  return decision === null ? 0 : 1;
}

// The sessions of agents that come through the proxy, each as a run of the ledger: so `sub tail`, `query`, `show` and
// `stats` know their turns. A run ends when its session has been silent for long, or with the proxy. The turns of an
// agent that `sub run` or `sub wrap` has started belong to that run, which has its own beginning and end.
import {
  type Client,
  definedFields,
  type EventBody,
  type PolicyRef,
  type Producer,
} from '@subluminal/contracts';
import { registerRun } from '@subluminal/plane/identity';
import type { RunEnv } from '@subluminal/plane/runs/agent-file';
import type { BatchingSink } from '@subluminal/plane/sink';
import { uuidv7 } from 'uuidv7';
import { TurnRecorder } from '../local/record-turns.ts';

export interface SessionRunsOptions {
  /** Who and where this machine is; the run and the agent come from the session. */
  readonly producer: Producer;
  readonly sink: BatchingSink;
  /** Where processes say which runs they keep open. */
  readonly runDir: string;
  readonly warn: (text: string) => void;
}

export interface SessionFacts {
  /** Of the session in its run: it may be continued in another one. */
  readonly key: string;
  /** As its client names it. */
  readonly sessionId: string;
  readonly client: Client;
  readonly agentId: string;
  readonly repoRoot: string | undefined;
  /** The variables of the run that has started its agent. */
  readonly hostRun: RunEnv | undefined;
}

/** What decides the turns of a session. */
export interface SessionPolicy {
  readonly policy: PolicyRef;
  readonly mode: EventBody<'run_start'>['run']['mode'];
}

/** Called when a session ends; says how. */
type SessionEnd = () => EventBody<'run_end'>['run']['status'];

export interface SessionRun {
  readonly producer: Producer;
  readonly recorder: TurnRecorder;
  readonly policy: PolicyRef;
  readonly startedMs: number;
  /** The place of this turn in its session, from 0. */
  nextTurn(): number;
  /** What the gateway calls the turn that ended last. */
  traced(traceId: string): void;
  whenEnded(end: SessionEnd): void;
}

export interface ListedSession {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly turns: number;
  readonly cost_micros: number;
  readonly last_trace_id?: string;
  readonly started_at: string;
  readonly repo?: string;
}

interface OpenSession extends SessionRun {
  readonly facts: SessionFacts;
  readonly release: () => void;
  turns: number;
  lastTraceId: string | undefined;
  usedMs: number;
  onEnd: SessionEnd;
}

const SESSIONS_MAX = 1_000;
const IDLE_MS = 30 * 60_000;
const FLUSH_MS = 5_000;

export class SessionRuns {
  readonly #options: SessionRunsOptions;
  /** The one that was used last is the last. */
  readonly #sessions = new Map<string, OpenSession>();

  constructor(options: SessionRunsOptions) {
    this.#options = options;
  }

  /** The session that is open; it counts as used now. */
  find(key: string): SessionRun | undefined {
    this.#endOld();
    const known = this.#sessions.get(key);
    return known === undefined ? undefined : this.#use(known);
  }

  /** Begins a session that is not open. */
  open(facts: SessionFacts, by: SessionPolicy): SessionRun {
    return this.#use(this.#begin(facts, by));
  }

  /** Ends a session before its time; none where it is not open. */
  end(key: string): void {
    const session = this.#sessions.get(key);
    this.#sessions.delete(key);
    if (session !== undefined) this.#end(session);
  }

  #use(session: OpenSession): SessionRun {
    const { key } = session.facts;
    session.usedMs = Date.now();
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    return session;
  }

  list(): readonly ListedSession[] {
    return [...this.#sessions.values()].map((session) => ({
      session_id: session.facts.sessionId,
      run_id: session.producer.run_id,
      agent: session.facts.agentId,
      turns: session.turns,
      cost_micros: session.recorder.costMicros,
      ...definedFields({ last_trace_id: session.lastTraceId, repo: session.facts.repoRoot }),
      started_at: new Date(session.startedMs).toISOString(),
    }));
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) this.#end(session);
    this.#sessions.clear();
    await this.#options.sink.close(FLUSH_MS);
  }

  #begin(facts: SessionFacts, { policy, mode }: SessionPolicy): OpenSession {
    const { producer: machine, sink, runDir, warn } = this.#options;
    const { client, repoRoot, sessionId, hostRun } = facts;
    const runId = hostRun?.['SUB_RUN_ID'] ?? uuidv7();
    const producer: Producer = {
      ...machine,
      run_id: runId,
      agent_id: hostRun?.['SUB_AGENT_ID'] ?? facts.agentId,
      client,
      source: { ...machine.source, shim_id: uuidv7() },
      workload: { ...machine.workload, ...(repoRoot !== undefined && { repo_path: repoRoot }) },
    };
    const recorder = new TurnRecorder({ producer, sink, warn });
    const startedMs = Date.now();
    const started_at = new Date(startedMs).toISOString();
    const meta = { session_id: sessionId, through: 'sub proxy' };
    if (hostRun === undefined) {
      recorder.record('run_start', { run: { started_at, mode, policy, meta } });
    }
    const session: OpenSession = {
      facts,
      producer,
      recorder,
      policy,
      startedMs,
      usedMs: startedMs,
      release: hostRun === undefined ? registerRun(runDir, runId) : () => {},
      turns: 0,
      lastTraceId: undefined,
      onEnd: () => 'SUCCEEDED',
      nextTurn: () => session.turns++,
      traced: (traceId) => {
        session.lastTraceId = traceId;
      },
      whenEnded: (end) => {
        session.onEnd = end;
      },
    };
    return session;
  }

  #endOld(): void {
    const nowMs = Date.now();
    for (const [key, session] of this.#sessions) {
      const isOver = nowMs - session.usedMs > IDLE_MS || this.#sessions.size >= SESSIONS_MAX;
      if (!isOver) return;
      this.end(key);
    }
  }

  #end({ recorder, startedMs, release, onEnd, facts }: OpenSession): void {
    const status = onEnd();
    if (facts.hostRun !== undefined) return;
    const { calls_spared: _, ...counts } = recorder.summary;
    const summary = { ...counts, duration_ms: Math.max(0, Date.now() - startedMs) };
    const ended_at = new Date().toISOString();
    recorder.record('run_end', { run: { ended_at, status, summary } });
    release();
  }
}

// The sessions of agents that come through the proxy, each as a run of the ledger: so `sub tail`, `query`, `show` and
// `stats` know their turns. A run ends when its session has been silent for long, or with the proxy.
import {
  type Client,
  type EventWriter,
  eventWriter,
  type PolicyRef,
  type Producer,
} from '@subluminal/contracts';
import { registerRun } from '@subluminal/plane/identity';
import type { BatchingSink } from '@subluminal/plane/sink';
import { uuidv7 } from 'uuidv7';
import { TurnRecorder } from '../local/record-turns.ts';

export interface SessionRunsOptions {
  /** Who and where this machine is; the run and the agent come from the session. */
  readonly producer: Producer;
  readonly sink: BatchingSink;
  readonly policy: PolicyRef;
  /** Where processes say which runs they keep open. */
  readonly runDir: string;
  readonly warn: (text: string) => void;
}

export interface SessionFacts {
  /** As its client names it. */
  readonly sessionId: string;
  readonly client: Client;
  readonly agentId: string;
  readonly repoRoot: string | undefined;
}

export interface SessionRun {
  readonly runId: string;
  readonly recorder: TurnRecorder;
  /** What decides its turns. */
  readonly policy: PolicyRef;
  /** The place of this turn in its session, from 0. */
  nextTurn(): number;
}

export interface ListedSession {
  readonly session_id: string;
  readonly run_id: string;
  readonly agent: string;
  readonly turns: number;
  readonly started_at: string;
  readonly repo?: string;
}

interface OpenSession extends SessionRun {
  readonly facts: SessionFacts;
  readonly writer: EventWriter;
  readonly startedMs: number;
  readonly release: () => void;
  turns: number;
  usedMs: number;
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

  run(facts: SessionFacts): SessionRun {
    this.#endOld();
    const known = this.#sessions.get(facts.sessionId) ?? this.#open(facts);
    known.usedMs = Date.now();
    this.#sessions.delete(facts.sessionId);
    this.#sessions.set(facts.sessionId, known);
    return known;
  }

  list(): readonly ListedSession[] {
    return [...this.#sessions.values()].map(({ facts, runId, turns, startedMs }) => ({
      session_id: facts.sessionId,
      run_id: runId,
      agent: facts.agentId,
      turns,
      started_at: new Date(startedMs).toISOString(),
      ...(facts.repoRoot !== undefined && { repo: facts.repoRoot }),
    }));
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) this.#end(session);
    this.#sessions.clear();
    await this.#options.sink.close(FLUSH_MS);
  }

  #open(facts: SessionFacts): OpenSession {
    const { producer: machine, sink, policy, runDir, warn } = this.#options;
    const { agentId, client, repoRoot, sessionId } = facts;
    const runId = uuidv7();
    const producer: Producer = {
      ...machine,
      run_id: runId,
      agent_id: agentId,
      client,
      source: { ...machine.source, shim_id: uuidv7() },
      workload: { ...machine.workload, ...(repoRoot !== undefined && { repo_path: repoRoot }) },
    };
    const recorder = new TurnRecorder({ producer, sink, warn });
    const startedMs = Date.now();
    const started_at = new Date(startedMs).toISOString();
    const meta = { session_id: sessionId, through: 'sub proxy' };
    recorder.record('run_start', { run: { started_at, mode: 'control', policy, meta } });
    const session: OpenSession = {
      facts,
      runId,
      recorder,
      policy,
      startedMs,
      usedMs: startedMs,
      writer: eventWriter(producer),
      release: registerRun(runDir, runId),
      turns: 0,
      nextTurn: () => session.turns++,
    };
    return session;
  }

  #endOld(): void {
    const nowMs = Date.now();
    for (const [id, session] of this.#sessions) {
      const isOver = nowMs - session.usedMs > IDLE_MS || this.#sessions.size >= SESSIONS_MAX;
      if (!isOver) return;
      this.#end(session);
      this.#sessions.delete(id);
    }
  }

  #end({ recorder, startedMs, release }: OpenSession): void {
    const { calls_spared: _, ...counts } = recorder.summary;
    const summary = { ...counts, duration_ms: Math.max(0, Date.now() - startedMs) };
    const ended_at = new Date().toISOString();
    recorder.record('run_end', { run: { ended_at, status: 'SUCCEEDED', summary } });
    release();
  }
}

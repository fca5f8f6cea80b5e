// The run of an agent in this process: its servers behind one hub, and one record.
import type { Producer, ShimSummary } from '@subluminal/contracts';
import { type Snapshot, sealSnapshot, withProfile } from '@subluminal/core/policy';
import type { GrowingRedactor } from '../../stores/vault/load-redactor.ts';
import type { Judge } from '../hub/index.ts';
import { SERVER_NAME } from '../serve/config/serve-config.ts';
import { ServeRun } from '../serve/sessions/serve-runs.ts';
import type { SessionSurroundings } from '../serve/sessions/served-session.ts';
import { type AgentEntry, type AgentServed, AgentServer } from './agent-server.ts';
import type {
  AgentCall,
  AgentOutcome,
  AgentRun,
  AgentTool,
  AgentTurns,
  PastAnswer,
} from './types.ts';

export interface AgentRunOptions {
  /** Who acts, with the id of the run. */
  readonly producer: Producer;
  /** What is said of the run at its start. */
  readonly meta: { readonly [name: string]: string };
  readonly around: Omit<SessionSurroundings<AgentServed>, 'policy' | 'reachHub' | 'inherits'>;
  /** Of servers of our own: knows the secrets that they use. */
  readonly redaction: GrowingRedactor;
  readonly judge: Judge | undefined;
  readonly policy: Snapshot;
  readonly servers: readonly AgentEntry[];
  readonly onClosed: () => void;
}

const SERVERS_MAX = 100;
/** What a program needs to find its files and to speak the user's language: no keys of the agent. */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TMPDIR|LANG|LC_[A-Z]+|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy|(?:HTTPS?|NO)_PROXY)$/;

export function openAgentRun(options: AgentRunOptions): AgentRun {
  return new OpenedAgentRun(options);
}

class OpenedAgentRun implements AgentRun {
  readonly id: string;
  readonly turns: AgentTurns;
  readonly #run: ServeRun;
  readonly #around: SessionSurroundings<AgentServed>;
  readonly #servers = new Map<string, AgentServer>();
  #snapshot: Snapshot;
  readonly #onClosed: () => void;
  readonly #redaction: GrowingRedactor;
  #closing: Promise<void> | undefined;

  constructor(options: AgentRunOptions) {
    this.#onClosed = options.onClosed;
    this.#redaction = options.redaction;
    const { producer, around, judge, policy, meta, servers } = options;
    this.id = producer.run_id;
    this.#snapshot = enforced(policy);
    const { paths } = around.loaded;
    const { sink, warn } = around;
    const snapshot = (): Snapshot => this.#snapshot;
    const idleMs = (): number => Number.POSITIVE_INFINITY;
    const runs = { isHosted: false, sink, snapshot, judge, runDir: paths.run, idleMs, warn };
    this.#run = new ServeRun(runs, producer, meta);
    this.turns = turnsOf(this.#run, { sink, snapshot });
    const files = { sources: [], home: paths.home, mark: '', hashes: [], loosening: undefined };
    this.#around = {
      ...around,
      policy: () => ({ snapshot: this.#snapshot, files }),
      reachHub: () => Promise.resolve(undefined),
      inherits: (name) => INHERITED.test(name),
    };
    for (const entry of servers) {
      const problem = this.#add(entry);
      if (typeof problem === 'string') warn(problem);
    }
  }

  userSaid(text: string): void {
    this.#run.hub?.said(text);
  }

  async remember({ server, tool, text }: PastAnswer): Promise<void> {
    const { hub, producer } = this.#run;
    if (hub === undefined) return;
    const { ref } = this.#snapshot;
    const answer = JSON.stringify({ content: [{ type: 'text', text }] });
    await hub.policy(sealSnapshot(this.#snapshot));
    hub.observe({
      run_id: producer.run_id,
      server_id: server,
      policy_hash: ref.policy_hash,
      call_id: '',
      tool_name: tool,
      text: answer,
    });
  }

  async tools(): Promise<readonly AgentTool[]> {
    const { warn } = this.#around;
    const lists = [...this.#servers.values()].map((server) =>
      server.tools().catch(() => {
        warn(`The tools of ${server.entry.name} could not be listed.`);
        return [];
      }),
    );
    return (await Promise.all(lists)).flat();
  }

  async call(wanted: AgentCall): Promise<AgentOutcome> {
    const server = this.#servers.get(wanted.server);
    if (server === undefined || this.#closing !== undefined) {
      const message = server === undefined ? 'There is no such server.' : 'The run has ended.';
      return { kind: 'failed', message, wasForwarded: false };
    }
    if (this.#run.isTerminated) {
      return { kind: 'failed', message: 'The policy has ended this run.', wasForwarded: false };
    }
    return server.call(wanted);
  }

  async usePolicy(snapshot: Snapshot): Promise<void> {
    this.#snapshot = enforced(snapshot);
    const next = this.#snapshot;
    await Promise.all([...this.#servers.values()].map((server) => server.usePolicy(next)));
  }

  async addServer(entry: AgentEntry): Promise<string | undefined> {
    const server = this.#add(entry);
    if (typeof server === 'string') return server;
    const problem = await server.reach();
    if (problem !== undefined) await this.removeServer(entry.name);
    return problem;
  }

  async removeServer(name: string): Promise<void> {
    const server = this.#servers.get(name);
    this.#servers.delete(name);
    await server?.close();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close()));
    this.#run.end();
    this.#onClosed();
  }

  #add(entry: AgentEntry): AgentServer | string {
    const { name } = entry;
    if (this.#closing !== undefined) return 'The run has ended.';
    if (!SERVER_NAME.test(name)) return 'This is no name for a server.';
    if (this.#servers.has(name)) return `There is a server ${name} already.`;
    if (this.#servers.size >= SERVERS_MAX) return 'There are too many servers.';
    const principal = { id: 'local', kind: 'local', name: 'local', token: undefined } as const;
    const around = { around: this.#around, run: this.#run, redaction: this.#redaction };
    const server = new AgentServer(entry, { ...around, principal });
    this.#servers.set(name, server);
    return server;
  }
}

function turnsOf(
  run: ServeRun,
  { sink, snapshot }: Pick<AgentTurns, 'sink' | 'snapshot'>,
): AgentTurns {
  const { hub, producer } = run;
  if (hub === undefined) throw new Error('a run of this process has its hub here');
  const ended = (summary: ShimSummary): void => {
    run.join();
    const hasFailed = summary.calls_allowed === 0;
    run.leave({ startedMs: 0, summary, hasFailed, isTerminated: false }, undefined);
  };
  return { producer, hub, sink, snapshot, ended };
}

/** An agent of our own is governed from its first call on: nothing of its policy is only reported. */
function enforced(snapshot: Snapshot): Snapshot {
  return withProfile(snapshot, 'production');
}

// The options of a run, and its result.
import type { Client, Env as EnvName, Failure, Producer, ShimSummary } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { Config, HomePaths } from '../../stores/config/index.ts';
import type { RunSummary } from '../../stores/ledger/export/index.ts';
import type { PolicyFiles } from '../../stores/policy/follow-policy.ts';
import type { PolicySource } from '../../stores/policy/sources.ts';
import type { RunningHub } from '../hub/index.ts';
import type { BatchingSink } from '../sink/index.ts';

export interface RunOptions {
  /** The agent and its arguments. */
  readonly command: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly config: Config;
  readonly paths: HomePaths;
  /** The policy that the run begins with; null without one. */
  readonly snapshot: Snapshot | null;
  /** The files that it was made from. */
  readonly policySources: readonly PolicySource[];
  /** Of the content of each of these files, as it was loaded. */
  readonly policyHashes: readonly string[];
  /** Options of the command line that go on to the agent's shims. */
  readonly told: {
    readonly policyPath?: string;
    /** That of the project, if it was found: it holds alone when it is the same, else it tightens. */
    readonly projectPolicyPath?: string;
    /** Somebody named it for this run; else it was found, or is the one of the home. */
    readonly isPolicyNamed?: boolean;
    readonly profile?: string;
  };
  readonly identity: {
    readonly agentId?: string;
    readonly env?: EnvName;
    readonly client?: Client;
    readonly principal?: string;
  };
  readonly meta: { readonly [key: string]: string };
  readonly events: {
    /** An absolute path. */
    readonly file?: string;
    /** Given on the command line, so it goes on to the shims. */
    readonly sink?: 'ledger' | 'off';
    /** Hands whole lines over; false when nobody takes them any more. */
    readonly follow?: (bytes: Uint8Array) => Promise<boolean>;
  };
  readonly bundle?: { readonly dir: string; readonly force: boolean };
  /** A port of this machine for the hub, 0 for a free one; a socket of the home without. */
  readonly listen?: { readonly port: number; readonly token: string };
  /** Begins before the agent and ends after it. */
  readonly session?: RunSession;
  /** Puts the model calls of the agent under the policy of the run. */
  readonly models?: RunModels;
  /** Puts the agent's own tools under the policy of the run. */
  readonly hooks?: AgentHooks;
  /** Something besides a terminal of this machine may answer to a tool use that asks. */
  readonly hasChannel?: boolean;
  /** A terminal tells the agent of Ctrl-C by itself. */
  readonly isTerminal: boolean;
  /** Tells the person in front of the machine, on one line. */
  readonly tell: (text: string) => void;
}

export interface RunSession {
  /** The hub is up, and nothing has started. Whatever a refusal has begun is ended as well. */
  begin(told: SessionTold): Promise<Failure | undefined>;
  /** The agent and its shims are gone. Called once more than needed rather than not at all. */
  end(): Promise<void>;
}

/** The model plane of a run: stands between the agent and its models. */
export interface RunModels {
  /** The hub is up, and nothing has started. A failure keeps the agent from starting. */
  begin(told: ModelsTold): Promise<AgentLaunch | Failure>;
  /** The agent is gone. What was counted comes back; called once more than needed rather than not at all. */
  end(): Promise<ShimSummary>;
}

export interface ModelsTold {
  readonly producer: Producer;
  readonly hub: RunningHub;
  readonly sink: BatchingSink;
  readonly snapshot: Snapshot;
  /** The files of that policy: turns follow their changes as calls do. */
  readonly policyFiles: PolicyFiles;
  /** Records that turns go on by less than they should. */
  readonly degraded: (reason: string) => void;
  /** The environment of the agent, as it would be without the model plane. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The agent and its arguments. */
  readonly command: readonly string[];
}

/** How the agent is started: so that its turns or its hooks come here, for example. */
export interface AgentLaunch {
  readonly env: { readonly [name: string]: string | undefined };
  readonly command: readonly string[];
}

/** Private files that the agent reads, for as long as it runs. */
export interface LaunchFolder {
  readonly path: string;
  readonly files: { readonly [name: string]: string };
}

/** How the hooks of the agent come to this run. */
export interface AgentHooks {
  /** The id of the client that is started. */
  readonly client: string;
  /** The hooks are listened for, and nothing has started. A failure keeps the agent from starting. */
  begin(told: HooksTold): (AgentLaunch & { readonly folder?: LaunchFolder }) | Failure;
}

export interface HooksTold extends AgentLaunch {
  readonly http: { readonly url: string; readonly token: string };
  /** For hooks that are commands. */
  readonly socket: string;
  readonly cwd: string;
}

export interface SessionTold {
  readonly runId: string;
  /** The environment of the agent: all that a shim has to know of the run. */
  readonly env: { readonly [name: string]: string | undefined };
}

/** The agent cannot be started; the exit code is the one that a shell gives. */
export interface AgentStartFailure extends Failure {
  readonly exitCode: number;
}

/** How the agent ended. */
export interface AgentEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Who wanted it to end before it did by itself. */
  readonly asked: 'signal' | 'policy' | null;
}

export type RunStatus = 'SUCCEEDED' | 'FAILED' | 'TERMINATED' | 'CANCELLED';

/**
 * What the run did: from all of its events, or only as the hub has counted, because the events are
 * missing or say otherwise. Where not even the hub has heard all, the counts are the least there was.
 */
export type Account =
  | { readonly kind: 'events'; readonly summary: RunSummary }
  | {
      readonly kind: 'counted' | 'at_least';
      readonly totals: ShimSummary;
      readonly reason: string;
    };

/** Where the events of the run are now. */
export type TracePlace =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'bundle'; readonly path: string }
  | { readonly kind: 'ledger' }
  /** They were handed over, or nobody wanted them. */
  | { readonly kind: 'none' };

export interface PolicyHarm {
  readonly kind: 'loosened' | 'broken' | 'removed';
  /** A sentence. */
  readonly text: string;
}

export interface EndedRun {
  readonly kind: 'ended';
  readonly runId: string;
  readonly agent: AgentEnd;
  readonly status: RunStatus;
  readonly account: Account;
  readonly trace: TracePlace;
  /** Whether all that was to be kept of the run is kept, as far as that is known. */
  readonly isWhole: boolean;
  /** How many shims the hub has heard of. */
  readonly shims: number;
  /** Whether the agent was started with hooks, or hooks came from its settings. */
  readonly isHooked: boolean;
  /** False when neither the run nor one of its shims had a policy. */
  readonly hasPolicy: boolean;
  /** What became of policies during the run that may free an agent. */
  readonly policyHarms: readonly PolicyHarm[];
  /** What went wrong on the way, with its meaning for the user. */
  readonly warnings: readonly string[];
}

export type RunResult = Failure | EndedRun;

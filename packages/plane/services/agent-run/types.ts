// An agent that lives in this process: its run, the tools it sees, and what becomes of its calls.
import type { JsonObject, Producer, ShimSummary } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { Hub } from '../hub/index.ts';
import type { ServerEntry } from '../serve/config/serve-config.ts';
import type { BatchingSink } from '../sink/index.ts';
import type { OwnServer } from './own-tool.ts';

export interface AgentRun {
  /** The id of the run in the ledger. */
  readonly id: string;
  /** What its model calls are decided and recorded with. */
  readonly turns: AgentTurns;
  /** What the user said: values named there are not tainted. */
  userSaid(text: string): void;
  /** What a tool answered before a restart, so that its taint counts again. */
  remember(past: PastAnswer): Promise<void>;
  /** What all servers show, after the surface gates. It changes with `list_changed` and with servers. */
  tools(): Promise<readonly AgentTool[]>;
  /** Never throws. Takes as long as a person takes who is asked. */
  call(wanted: AgentCall): Promise<AgentOutcome>;
  usePolicy(snapshot: Snapshot): Promise<void>;
  /** A text says why it cannot be used. */
  addServer(entry: OwnServer | ServerEntry): Promise<string | undefined>;
  removeServer(name: string): Promise<void>;
  /** Ends open calls and all servers, and records the end of the run. */
  close(): Promise<void>;
}

/** The part of a run that its model calls share with its tool calls: policy, counters and record. */
export interface AgentTurns {
  readonly producer: Producer;
  readonly hub: Pick<Hub, 'evaluate' | 'settle' | 'policy'>;
  readonly sink: BatchingSink;
  /** The policy in force. */
  readonly snapshot: () => Snapshot;
  /** Adds their counts to the account of the run: once, before the run is closed. */
  readonly ended: (summary: ShimSummary) => void;
}

export interface PastAnswer {
  readonly server: string;
  readonly tool: string;
  readonly text: string;
}

export interface AgentTool {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly isReadOnly: boolean;
  /** May be sent again with the same key: a tool of our own that says so, or one that only reads. */
  readonly isRepeatable: boolean;
  /** Of a tool of our own: why the arguments do not fit. */
  readonly argsProblem?: (args: JsonObject) => string | undefined;
}

export interface AgentCall {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** See `ToolUseContext`. */
  readonly key: string;
  readonly judgements: readonly Judgement[];
  readonly about: CallAbout;
  readonly signal?: AbortSignal;
  /** Called synchronously before the bytes leave for the server; a throw stops the call. */
  readonly onForward?: () => void;
}

/** What somebody beside the policy thinks of a call. It may only tighten. */
export interface Judgement {
  /** Who judged, such as `guardian` or `egress`. */
  readonly by: string;
  readonly verdict: 'ALLOW' | 'BLOCK' | 'ESCALATE_TO_HUMAN';
  readonly reason: string;
  readonly model?: string;
}

/** What a person who is asked sees beside the call. All of it is hostile text. */
export interface CallAbout {
  readonly reasoning: string;
  readonly task: string;
  readonly channel: string;
  /** The words of the user. */
  readonly request?: string;
}

export type AgentOutcome =
  | {
      readonly kind: 'answered';
      readonly callId: string;
      readonly text: string;
      readonly structured?: JsonObject;
      readonly isError: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly callId: string;
      readonly action: string;
      readonly reasonCode: string;
      readonly ruleId: string | null;
      readonly summary: string;
      readonly hint?: string;
    }
  | { readonly kind: 'failed'; readonly message: string; readonly wasForwarded: boolean };

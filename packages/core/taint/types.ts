// What taint works on: where content came from, what of it is remembered, what a check finds.
import type { TaintSink } from '@subluminal/contracts';

/** Which answer the content came with. */
export interface TaintSource {
  readonly server: string;
  readonly tool: string;
  readonly callId: string;
}

export type Trust = 'trusted' | 'untrusted';

export type SinkKind = TaintSink['kind'];

export const RUN_FLAGS = ['untrusted_input', 'private_data', 'egress_or_change'] as const;
/** The three things of which a run should have at most two. */
export type RunFlag = (typeof RUN_FLAGS)[number];

/** Where a remembered value was seen first, and whether that place is trusted. */
export interface Sighting {
  readonly trust: Trust;
  readonly source: TaintSource;
  /** Alone in a field of a record, or in running text, where an order to use it may stand. */
  readonly place: 'field' | 'text';
}

/**
 * What a run has read. Immutable: each observation gives a new state, and old ones stay as they are.
 * Newer layers come last, and what they say of a value holds.
 */
export interface TaintState {
  readonly layers: readonly ReadonlyMap<string, Sighting>[];
  readonly trustedClears: 'earlier' | 'any';
  readonly untrustedCount: number;
  readonly trustedCount: number;
  /** The first untrusted answer of which not everything could be remembered. */
  readonly blind: TaintSource | undefined;
  /** What the agent wrote into the arguments of its last calls. */
  readonly sent: ReadonlyMap<string, ReadonlySet<string>>;
  /** What brought each flag of the run first. */
  readonly flags: ReadonlyMap<RunFlag, TaintSource>;
  /** Untrusted texts that look like orders to the agent. From the first one on, every match holds. */
  readonly orders: readonly Order[];
  /** Paths that the agent named in calls that passed. */
  readonly ownPaths: ReadonlySet<string>;
}

/** The surroundings of an injection, folded. */
export interface Order {
  readonly source: TaintSource;
  readonly text: string;
}

/** How a value is tied to what was read. */
export type MatchKind =
  | 'exact'
  | 'host' // the same host, or one below it
  | 'prefix' // it continues a path, an address or a command that was read
  | 'suffix' // a path that was read, behind a folder
  | 'ordered' // it stands in a text that looks like an order to the agent
  | 'joined' // several arguments together are what was read
  | 'unscanned'; // not everything that was read is known, so it cannot be ruled out

export interface TaintFinding {
  /** Where in the arguments: `to[0]`; `user + host` for several that stand side by side. */
  readonly arg: string;
  /** `any` when the arguments could not be looked at. */
  readonly sink: SinkKind | 'any';
  readonly match: MatchKind;
  readonly source: TaintSource;
  /** Whether the call is stopped for it; else it is only recorded. */
  readonly holds: boolean;
  /** Enough of the value to recognise it, harmless and shortened. */
  readonly shown: string;
}

export type TaintVerdict =
  | { readonly verdict: 'clean' }
  | {
      readonly verdict: 'tainted';
      readonly findings: readonly TaintFinding[];
      /** Findings beyond those listed. */
      readonly more: number;
    };

export interface TaintCall {
  readonly server: string;
  readonly tool: string;
  /** Absent when the message was too large to inspect. */
  readonly args?: unknown;
  /** What stands in the message beside the arguments, such as answers to what the server has asked. */
  readonly beside?: unknown;
}

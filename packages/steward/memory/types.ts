// What Steward remembers, where it came from, and who may do what with it.
import type { Failure } from '@subluminal/contracts';
import type { MemoryRequestBody, MemorySource, MemoryState, Provenance } from './store/types.ts';

export type { MemoryRequestBody, MemorySource, MemoryState, Provenance } from './store/types.ts';

/** What an agent may say about where a text is from: words of the user come from the user alone. */
export type AgentProvenance = Exclude<Provenance, 'user_instruction'>;

export interface NewMemory<P extends Provenance = Provenance> {
  readonly text: string;
  readonly provenance: P;
  readonly source?: MemorySource;
  readonly conversation?: string;
}

export interface MemoryEntry {
  readonly id: string;
  readonly text: string;
  readonly provenance: Provenance;
  readonly source: MemorySource;
  readonly conversation: string | null;
  readonly state: MemoryState;
  /** Why it waits for the user: names of rules and signs. */
  readonly reasons: readonly string[];
  /** Kinds of personal data in it. */
  readonly tags: readonly string[];
  readonly createdMs: number;
  readonly confirmedMs: number | null;
  readonly lastUsedMs: number | null;
  /** From 0 to 1: follows from the provenance, and from the user's confirmation alone. */
  readonly trust: number;
  /** From 0 to 1: what is left of its influence. Text from outside fades unless the user confirms it. */
  readonly freshness: number;
}

export type AddedMemory =
  | { readonly kind: 'kept'; readonly entry: MemoryEntry }
  /** The same text is known; nothing about it changes. */
  | { readonly kind: 'merged'; readonly entry: MemoryEntry }
  /** It looks like an instruction: it does not come back until the user has looked at it. */
  | { readonly kind: 'quarantined'; readonly entry: MemoryEntry }
  | { readonly kind: 'refused'; readonly failure: Failure };

export interface MemoryQuery {
  readonly text: string;
  readonly limit?: number;
}

export interface FoundMemory {
  readonly entry: MemoryEntry;
  readonly score: number;
  /** For a prompt: text from outside stands between the marks of external content. */
  readonly marked: string;
}

/** A fact that the user has set. */
export interface CoreFact {
  readonly key: string;
  readonly value: string;
  readonly setMs: number;
}

/** What the agent asks the user to do with the memory. */
export interface MemoryRequest {
  readonly id: string;
  readonly body: MemoryRequestBody;
  readonly reason: string;
  readonly conversation: string | null;
  readonly createdMs: number;
}

export type NewMemoryRequest = Omit<MemoryRequest, 'id' | 'createdMs'>;

/** What the loop and the agent's tools may use. Nothing here changes a core fact or raises trust. */
export interface AgentMemory {
  add(entry: NewMemory<AgentProvenance>): Promise<AddedMemory>;
  search(query: MemoryQuery): Promise<readonly FoundMemory[]>;
  core(): Promise<readonly CoreFact[]>;
  /** Files a request that the user decides on. */
  request(request: NewMemoryRequest): Promise<MemoryRequest | Failure>;
}

/** Either these entries, or all entries, core facts and requests that hold this text. */
export type ForgetTarget = { readonly ids: readonly string[] } | { readonly containing: string };

/** Texts of conversations and tasks. */
export interface ForgottenElsewhere {
  readonly changed: number;
  /** Those of tasks that are under way. */
  readonly left: number;
}

export interface ForgetReport {
  readonly entries: number;
  readonly coreFacts: number;
  readonly requests: number;
  readonly elsewhere: ForgottenElsewhere;
}

export interface MemoryList {
  readonly states?: readonly MemoryState[];
  readonly provenance?: Provenance;
  readonly containing?: string;
  /** The id of the last entry of the page before; entries come newest first. */
  readonly before?: string;
  readonly limit?: number;
}

export type FindingKind = 'tampered' | 'injected' | 'contradiction' | 'flood';

export interface AuditFinding {
  readonly kind: FindingKind;
  readonly id: string;
  readonly detail: string;
}

export interface AuditReport {
  readonly checked: number;
  readonly findings: readonly AuditFinding[];
  /** Findings beyond those that are listed; their entries were moved as well. */
  readonly unlisted: number;
}

export type VectorStatus =
  | { readonly kind: 'on'; readonly model: string; readonly pending: number }
  | { readonly kind: 'off'; readonly why: string };

export interface MemoryStatus {
  readonly engine: 'sqlite' | 'postgres';
  readonly entries: { readonly [state in MemoryState]: number };
  readonly coreFacts: number;
  readonly requests: number;
  readonly vectors: VectorStatus;
}

/** The whole memory: what is not in `AgentMemory` is for commands of the user alone. */
export interface Memory extends AgentMemory {
  add(entry: NewMemory): Promise<AddedMemory>;
  setCore(key: string, value: string): Promise<CoreFact | Failure>;
  removeCore(key: string): Promise<Failure | undefined>;
  list(filter: MemoryList): Promise<readonly MemoryEntry[]>;
  /** The user vouches for it: it becomes active, gains trust and no longer fades. */
  confirm(id: string): Promise<MemoryEntry | Failure>;
  /** What waits for the user. */
  review(): Promise<{
    readonly entries: readonly MemoryEntry[];
    readonly requests: readonly MemoryRequest[];
  }>;
  decideRequest(id: string, verdict: 'accept' | 'reject'): Promise<Failure | undefined>;
  forget(target: ForgetTarget): Promise<ForgetReport | Failure>;
  audit(signal?: AbortSignal): Promise<AuditReport>;
  status(): Promise<MemoryStatus>;
  /** Resolves when everything that waits has its embedding, or the embedder has failed. */
  embedded(): Promise<void>;
  close(): Promise<void>;
}

// The inputs and outputs of a session. Plain data.
import type {
  CallRef,
  Decision,
  EventBody,
  JsonObject,
  Profile,
  Transport,
} from '@subluminal/contracts';
import type { Lease } from '@subluminal/contracts/hub-frames';
import type { Encode } from '../json/patch-text.ts';
import type { Decode } from '../json/text.ts';
import type { Call, Identity, Outcome, PolicyState, Snapshot } from '../policy/index.ts';
import type { Sha256 } from '../ports.ts';
import type { CallBrief } from './call-brief.ts';
import type { CallLimit, ContentNote, Guard, LimitVerdict } from './guard.ts';
import type { InvalidReason } from './peek/types.ts';

export type Side = 'agent' | 'server';

export type ReportReason =
  | InvalidReason
  | 'batch'
  | 'too_large'
  | 'partial'
  | 'unsolicited_answer'
  | 'id_in_use'
  | 'too_many_open'
  | 'not_inspectable'
  | 'call_without_id'
  | 'no_server'
  /** The protocol revision of the session does not have it. */
  | 'not_in_era'
  /** It belongs to a subscription that is not open. */
  | 'not_subscribed'
  | 'orphan'
  /** A gate refuses it. */
  | 'refused'
  /** A server has written a mark that only Subluminal may write. */
  | 'forged_mark'
  /** The hub did not receive an answer. */
  | 'unheard'
  /** A gate has noticed something about the server. */
  | 'surface';

/** A report for the operator. */
export interface Report {
  /** `WOULD_…`: the development profile let it pass. */
  readonly what: 'REJECTED' | 'DROPPED' | 'WOULD_REJECT' | 'WOULD_DROP' | 'NOTICED';
  readonly from: Side;
  readonly reason: ReportReason;
  /** In words; safe to show. */
  readonly detail: string;
  readonly bytes: number;
  /** A few bytes around the fault, in hex. */
  readonly sample?: string;
}

/** What the hub must be asked about a call, because its counters are shared by the servers of the run. */
export interface HubQuestion {
  readonly ref: CallRef;
  readonly call: Call;
  /** The members beside its arguments: see `Envelope.rest`. */
  readonly beside?: JsonObject | undefined;
  /** The limits of the manifest that it counts for. */
  readonly limits?: readonly CallLimit[] | undefined;
  /** Only these calls are needed: this session decides, and counts what the hub leases to it. */
  readonly leases?: readonly Lease[] | undefined;
}

/** What the hub has leased: of each counter that was asked for, however many calls that are. */
export interface LeaseAnswer {
  /** The policy of the counters. */
  readonly policyHash: string;
  readonly leases: readonly Lease[];
  /** The run has been ended. */
  readonly terminated?: PolicyState['terminated'] | undefined;
}

/** An answer of the hub; without an outcome, the hub could not be asked. */
export interface HubAnswer {
  readonly callId: string;
  readonly outcome:
    | (Omit<Outcome<PolicyState>, 'state'> & {
        readonly content?: ContentNote | undefined;
        /** Of the limits in the question, if it had any. */
        readonly limit?: LimitVerdict | undefined;
      })
    | undefined;
  /** To a question for leases. */
  readonly leased?: LeaseAnswer | undefined;
  /** The policy has changed since the question was made: another one may have to be asked. */
  readonly isStale?: boolean;
}

/** The answers of the hub before a message is handled. */
export interface HubReply {
  readonly answers?: readonly HubAnswer[];
  /** The hub has received the content of this message of the server. */
  readonly heard?: boolean;
}

/** The content of an answer, for the hub, which tracks where values come from. */
export interface Observation {
  /** Empty when it answers no call of a tool. */
  readonly callId: string;
  /** The tool, or the method of a request that is no call. */
  readonly tool: string;
  /** The JSON of its result or error. */
  readonly text: string;
}

export interface ApprovalWanted {
  readonly wait: 'hold' | 'hint';
  readonly timeout_ms: number;
  readonly rule_id: string;
  readonly summary: string;
  readonly call: CallRef;
  readonly policy_hash: string;
  readonly risk_class: readonly string[];
  /** The arguments as the person who decides sees them: JSON, redacted, cut when it is long. */
  readonly args: { readonly text: string; readonly complete: boolean } | undefined;
  /** The gates change the arguments before they go on, or have not said yet whether they do. */
  readonly isRewritten?: boolean;
  /** The id of its request as JSON. */
  readonly messageId?: string | undefined;
  /** What the agent says of it, where it says anything. */
  readonly brief?: CallBrief | undefined;
}

/** A call that a grant may cover. */
export interface GrantQuery {
  readonly ref: CallRef;
  /** The real ones; undefined when they were not read. */
  readonly args: () => JsonObject | undefined;
  readonly policyHash: string;
}

/** A grant that lets a call pass, as it goes on record. */
export interface TakenGrant {
  readonly rule_id: string;
  readonly grant_id: string;
  /** The request it came from. */
  readonly id: string;
  readonly by: string;
  readonly channel: string;
}

/** Asks people and looks up grants. It answers at once; the answer of a person comes later, by `Session.approval`. */
export interface Approver {
  /** The rules among these that grants satisfy for this call. Nothing is used up. */
  granted(query: GrantQuery, ruleIds: readonly string[]): readonly string[];
  /** Uses the grants for these rules; undefined when one of them is gone. */
  take(query: GrantQuery, ruleIds: readonly string[]): readonly TakenGrant[] | undefined;
  /** Puts a request before people; undefined when nobody can be asked. */
  ask(wanted: ApprovalWanted): AskedFor | undefined;
  /** Whether nobody is there who could answer in time, as in a CI job without a channel. */
  readonly isUnattended?: boolean;
}

export interface AskedFor {
  readonly id: string;
  /** How it gets approved, in words. */
  readonly advice: string;
  /** A person has just approved it, so nobody was asked again. */
  readonly isApproved?: boolean;
  /** Where people are asked; the queue of approvals, unless given. */
  readonly channel?: string;
  /** Who asks them ends it: nobody else can take the question back. */
  readonly isUntimed?: boolean;
}

type EmittedType =
  | 'tool_call_start'
  | 'tool_call_decision'
  | 'tool_call_end'
  | 'hint_issued'
  | 'breaker_trip'
  | 'approval'
  | 'surface';

/** `preview` may be written without its preview under pressure; see `leanLine`. */
export type Emit = {
  [T in EmittedType]: {
    readonly do: 'emit';
    readonly type: T;
    readonly body: EventBody<T>;
    readonly durability: 'durable' | 'preview';
  };
}[EmittedType];

export type DiscardReason = 'refused' | 'timeout' | 'cancelled';

/** What the caller of a session must do, in this order. */
export type Command =
  /** Write the bytes of this message; `bytes` only when they are not all of it. */
  | { readonly do: 'forward'; readonly to: Side; readonly bytes?: Uint8Array }
  /** Write a line of the session, which has its newline. It must not land inside of a streamed message. */
  | { readonly do: 'answer'; readonly to: Side; readonly text: string }
  /** Write nothing of this message. */
  | { readonly do: 'drop'; readonly reason: ReportReason | 'cancelled' }
  | { readonly do: 'report'; readonly report: Report }
  | Emit
  | { readonly do: 'terminate'; readonly code: string; readonly message: string }
  /** Tell the hub that a call that it decided has failed. */
  | { readonly do: 'result'; readonly callId: string; readonly result: 'error' }
  /** Ask the hub about a held call that a person has approved; see `Session.consulted`. */
  | { readonly do: 'consult'; readonly question: HubQuestion }
  /** A held call does not pass: its request for approval has ended. */
  | { readonly do: 'discard'; readonly callId: string; readonly why: DiscardReason }
  /** A large message begins: write these bytes of its head. Nothing else may be written there … */
  | { readonly do: 'stream'; readonly to: Side; readonly bytes: Uint8Array }
  /** … but further parts of it. */
  | { readonly do: 'part'; readonly to: Side; readonly bytes: Uint8Array }
  /** Read a large message and write nothing. */
  | { readonly do: 'swallow' }
  /** The end of a streamed message: write its held bytes and its newline … */
  | { readonly do: 'finish'; readonly to: Side; readonly bytes: Uint8Array }
  /** … or make sure that no reader takes it for a message: see `BROKEN_LINE_END`. */
  | { readonly do: 'break'; readonly to: Side };

export interface SessionLimits {
  /** Longer previews are cut; 0 for none. */
  readonly previewBytesMax: number;
  /** How much of the arguments a person is shown. */
  readonly askedBytesMax: number;
  /** How many requests of one side may be open, and how many may have ended without an answer. */
  readonly openMax: number;
  /** How long the id of a request that ended without an answer stays taken at least. */
  readonly idTakenMs: number;
  /** How long a request may be open before it counts as lost. */
  readonly orphanMs: number;
  readonly batchItemsMax: number;
  /** How often a held call tells its caller that it still waits. */
  readonly progressMs: number;
}

/** Removes secrets from a text; at the end of a text that was cut, also the beginning of a possible secret. */
export type Redact = (text: string, how?: { readonly truncated?: boolean }) => string;

export interface HubNeeds {
  /** Every call is the hub's to decide: it has gates of its own. Without a hub none can be asked. */
  readonly asksAlways?: boolean;
  /** The hub must know answers before the agent does: see `observations`. */
  readonly observes?: boolean;
}

export interface SessionConfig {
  readonly serverName: string;
  readonly transport?: Transport;
  readonly profile: Profile;
  readonly snapshot: Snapshot;
  /** The counters of the run so far. */
  readonly state?: PolicyState;
  readonly identity: Identity;
  /** Gives the id of the next call; unique. */
  readonly callId: () => string;
  /** Gives the place of the next call in the run; the session counts by itself without it. */
  readonly seq?: () => number;
  readonly sha256: Sha256;
  /** The same of bytes; with it, arguments in canonical form are hashed as they came. */
  readonly sha256Bytes?: (bytes: Uint8Array) => string;
  readonly decode?: Decode;
  readonly encode?: Encode;
  /** A native check of UTF-8; with it, long strings are not read byte by byte. */
  readonly isUtf8?: (bytes: Uint8Array) => boolean;
  /** A native count of the bytes that a text takes in UTF-8. */
  readonly utf8Bytes?: (text: string) => number;
  /** Takes secrets out of names, previews and messages. */
  readonly redact?: Redact;
  /** True when `redact` would not change this part of a message; false when that is not known. */
  readonly isClean?: (bytes: Uint8Array, start: number, end: number) => boolean;
  /** Without it, nobody can be asked and nothing was granted. */
  readonly approver?: Approver | undefined;
  /** Whether a hub counts for all servers of the run: see `questions`. Else this session does. */
  readonly hub?: boolean;
  /** Whether that hub leases calls, so that most are decided here. */
  readonly leases?: boolean;
  /** The needs of the hub. They may change with the policy, so they are read again for each message. */
  readonly hubNeeds?: HubNeeds;
  /** The gates beside the rules. */
  readonly guard?: Guard | undefined;
  /** What its agent knows of the call with this request id (as JSON) and this call id. Asked once per call. */
  readonly brief?: ((messageId: string, callId: string) => CallBrief | undefined) | undefined;
  /** Called for each message with its method, or with its kind if it has none. It must be quick. */
  readonly counted?: (from: Side, method: string) => void;
  /** Called for each decision, with the id of its request as JSON. It must be quick. */
  readonly decided?: (ref: CallRef, decision: Decision, messageId: string | undefined) => void;
  readonly limits?: Partial<SessionLimits>;
}

/** How the server went away. */
export interface ServerExit {
  /** False when it never ran. */
  readonly started: boolean;
  readonly code?: number | null;
  readonly signal?: string | null;
  /** Why it did not start; safe to show. */
  readonly message?: string;
}

export interface SessionSummary {
  readonly calls_total: number;
  readonly calls_allowed: number;
  readonly calls_blocked: number;
  readonly calls_throttled: number;
  readonly errors_total: number;
  /** Calls that were forwarded, and would not have been if everything were enforced. */
  readonly calls_spared: number;
  /** Answers to calls that were forwarded, and that the agent did not get. */
  readonly answers_held_back: number;
}

/** How a large message ended. */
export interface LargeEnd {
  readonly bytesTotal: number;
  /** SHA-256 over all of its bytes but the newline. */
  readonly streamHash: string;
  /** `too_large`: beyond the cap; `cut`: the input ended before the newline. */
  readonly outcome: 'complete' | 'too_large' | 'cut';
}

export type ApprovalAnswer =
  | 'approved'
  | 'rejected'
  | 'timeout'
  | 'unavailable'
  /** Rejected, with the words of the person. */
  | { readonly kind: 'rejected'; readonly note: string };

/** `declined`: the client, which was to ask its user, has not run the call. */
export type HeldAnswer = ApprovalAnswer | 'declined';

/**
 * A line that was streamed and must not count ends like this. Inside of a string, the first quote ends it
 * and a colon follows that cannot stand there; elsewhere `"::"` is a string at best, and two colons follow.
 * So the value is broken for good before the newline, wherever it was cut, also for a reader that takes
 * newlines inside of strings.
 */
export const BROKEN_LINE_END = '"::"::\n';

export const DEFAULT_LIMITS: SessionLimits = {
  previewBytesMax: 16_384,
  askedBytesMax: 65_536,
  openMax: 10_000,
  idTakenMs: 3_600_000,
  orphanMs: 600_000,
  batchItemsMax: 1_000,
  progressMs: 5_000,
};

// The gates beside the rules, as a session sees them: the surface of a server, and the content that may
// travel. A guard keeps its own state, answers at once and does no I/O.
import type { Decision, JsonObject } from '@subluminal/contracts';
import type { GatheredTexts } from './peek/gather-texts.ts';

/** What was done with content, for the record. Never the content itself. */
export interface ContentNote {
  readonly action: 'tag' | 'redact' | 'ask' | 'block';
  /**
   * `class:rule` of a finding, `unscanned:reason`, `leak:name` or `taint:sink`; each once. The suffix
   * ` (tag)`, ` (redact)` or ` (ask)` marks a finding that got this action instead of `action`.
   */
  readonly findings: readonly string[];
}

/** The parts of a message around its params, result or error, or around the arguments of a call. */
export interface Envelope {
  /** The id as JSON, and the method; the whole line if it is no message. */
  readonly written: string;
  /** The method of an answer is that of its request; empty when there is none. */
  readonly method: string;
  /**
   * Under `message`, members that no revision of the protocol knows; under `params`, the params of a call
   * besides `name` and `arguments`. Parsed on first use.
   */
  readonly rest: JsonObject | undefined;
  /** The JSON that `rest` was parsed from: numbers may have lost digits. */
  readonly restText?: string | undefined;
}

/** A limit that a call counts for, where the hub of the run counts. */
export interface CallLimit {
  readonly key: string;
  readonly calls?: number | undefined;
  readonly periodMs?: number | undefined;
  readonly cooldownMs?: number | undefined;
}

/** The answer of the hub about the limits of a call: it is counted, or it must wait and is not. */
export type LimitVerdict =
  | { readonly kind: 'counted' }
  | { readonly kind: 'rate' | 'cooldown'; readonly waitMs: number; readonly words: string };

/** A call as the gates see it. */
export interface GuardedCall {
  readonly callId: string;
  /** As the agent wrote it. */
  readonly tool: string;
  /** Parsed on first use; undefined when the message was too large to inspect. */
  readonly args: JsonObject | undefined;
  /** The JSON that the arguments were parsed from: numbers may have lost digits. */
  readonly argsText?: string | undefined;
  /** The bytes of the arguments, for a gate that searches them; absent without arguments. */
  readonly argsBytes?: Uint8Array | undefined;
  /** Undefined when the message was too large to inspect. */
  readonly envelope: Envelope | undefined;
  /** Absent where the guard counts by itself. */
  readonly limit?: LimitVerdict | undefined;
  /** Whether a person, or a grant, has agreed to this call for this rule. */
  isApproved(ruleId: string): boolean;
}

/**
 * The verdict of a gate on a call. A `decision` with `approval` asks a person; the gate passes its `rule_id`
 * to `isApproved` when the call is decided again.
 */
export type GateVerdict =
  | {
      readonly kind: 'pass';
      /** The arguments that go to the server instead of those that the agent wrote. */
      readonly args?: JsonObject | undefined;
      readonly note?: ContentNote | undefined;
      /** The decision that this gate would make if it were enforced. */
      readonly would?: Decision['would'];
    }
  | {
      readonly kind: 'stop';
      readonly decision: Decision;
      readonly note?: ContentNote | undefined;
    };

/** A message that is no call of a tool. */
export interface OtherMessage {
  readonly kind: 'request' | 'answer' | 'notification';
  /** Of an answer, the method of its request. */
  readonly method: string;
  /** `params` of a request or notification, `result` or `error` of an answer; parsed on first use. */
  readonly value: unknown;
  /** The JSON that the value was parsed from: numbers may have lost digits. */
  readonly text?: string | undefined;
  /** Of an answer: that it is an error. */
  readonly isError: boolean;
  /** Of an answer to a tool's call, and of a message about a task that the call goes on as. */
  readonly call?: { readonly callId: string; readonly tool: string } | undefined;
  /** Of an answer to `tasks/list`: the call of this session that goes on as a task. */
  readonly taskCall?: ((taskId: string) => OtherMessage['call']) | undefined;
}

export type MessageVerdict =
  | { readonly kind: 'same'; readonly note?: ContentNote | undefined }
  | { readonly kind: 'changed'; readonly value: unknown; readonly note?: ContentNote | undefined }
  | RefusedMessage;

/** The message does not arrive. A peer that waits for an answer gets this text instead. */
export interface RefusedMessage {
  readonly kind: 'refused';
  /** The gate that refuses it, as events name it. */
  readonly rule_id?: string | null | undefined;
  readonly severity?: Decision['severity'] | undefined;
  readonly reason_code: string;
  readonly summary: string;
  readonly hint?: string | undefined;
  readonly note?: ContentNote | undefined;
}

/** Which way a message goes: `in` to the agent, `out` to the server. */
export type Way = 'in' | 'out';

/** The end of a call that reached the server. */
export interface CallEnd {
  readonly callId: string;
  readonly tool: string;
  readonly isError: boolean;
  readonly tookMs: number;
}

/** A notice of a gate that is not about one call. */
export interface SurfaceNotice {
  readonly what:
    | 'tool_hidden'
    | 'tool_changed'
    | 'tool_added'
    | 'tool_removed'
    | 'schema_rewritten'
    | 'instructions_changed'
    | 'definition_suspicious'
    | 'look_alike'
    | 'server_state';
  readonly enforced: boolean;
  /** The tool, prompt or resource; harmless and bounded. */
  readonly name?: string | undefined;
  readonly reason_code: string;
  /** In words; safe to show. */
  readonly detail: string;
  /** Of `server_state`. */
  readonly state?: 'paused' | 'answering';
}

export interface Guard {
  /** The hash of the manifest in force, if there is one. */
  readonly manifestHash?: string | undefined;
  /** Whether the hub of the run must count the calls of this tool. Absent where none is counted there. */
  isLimited?(tool: string): boolean;
  /** The limits that it must count this call for. */
  limits?(call: Pick<GuardedCall, 'tool' | 'args'>, nowMs: number): readonly CallLimit[];
  /** Its refusal wins over what the rules say. Counts nothing. */
  surface(call: GuardedCall, nowMs: number): GateVerdict;
  /** For calls that the rules let pass. Counts nothing. */
  content(call: GuardedCall, nowMs: number): GateVerdict;
  /**
   * Judges a call that was too large to be read whole, at its end, by the texts in it. Absent when no gate
   * needs them.
   */
  gathered?(call: GuardedCall, texts: GatheredTexts): GateVerdict;
  /** The call goes to the server: now it counts. */
  passed(call: GuardedCall, nowMs: number): void;
  /** An allowed call has ended. */
  ended(end: CallEnd, nowMs: number): void;
  /** Whether a gate must inspect such messages; all others pass unparsed. */
  wants(way: Way, kind: OtherMessage['kind'], method: string): boolean;
  /** A message that `wants` asked for. */
  passing(way: Way, message: OtherMessage, nowMs: number): MessageVerdict;
  /**
   * Judges the parts around the value of a message that is no call; they cannot be changed. Absent when no
   * gate needs them.
   */
  around?(way: Way, envelope: Envelope, nowMs: number): MessageVerdict;
  /** Whether such a message may pass although it is too large to be inspected. */
  unseen(way: Way, kind: OtherMessage['kind'], method: string): MessageVerdict;
  /** The notices since the last call. */
  notices(): readonly SurfaceNotice[];
}

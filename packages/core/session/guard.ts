// The gates beside the rules, as a session sees them: what a server may show, and what content may
// travel. A guard keeps its own state, answers at once and does no I/O.
import type { Decision, JsonObject } from '@subluminal/contracts';
import type { GatheredTexts } from './peek/gather-texts.ts';

/** What became of content on its way, for the record. Never the content itself. */
export interface ContentNote {
  readonly action: 'tag' | 'redact' | 'ask' | 'block';
  /**
   * `class:rule` of what was found, `unscanned:reason`, `leak:name`, `taint:sink`; each once. For
   * one with ` (tag)`, ` (redact)` or ` (ask)` behind it only that was done, not `action`.
   */
  readonly findings: readonly string[];
}

/** What stands in a message around what the gates see of it otherwise. */
export interface Envelope {
  /** The id as JSON, and the method; of a line that is no message, all of it. */
  readonly written: string;
  /** Of an answer, the method of its request; empty when there is none. */
  readonly method: string;
  /**
   * Members of the message that no revision of the protocol knows, as `message`; of a call, those of
   * its params beside `name` and `arguments` as `params`. Parsed on first use.
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

/** What the hub says of the limits of a call: it is counted, or must wait and is not. */
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
 * What a gate says about a call. A `decision` with `approval` asks a person; its `rule_id` is the
 * one that `isApproved` is asked about when the call is decided again.
 */
export type GateVerdict =
  | {
      readonly kind: 'pass';
      /** What goes to the server instead of what the agent wrote. */
      readonly args?: JsonObject | undefined;
      readonly note?: ContentNote | undefined;
      /** What would have been decided where this gate is enforced. */
      readonly would?: Decision['would'];
    }
  | {
      readonly kind: 'stop';
      readonly decision: Decision;
      readonly note?: ContentNote | undefined;
    };

/** A message that is no call of a tool. */
export interface Passing {
  readonly kind: 'request' | 'answer' | 'notification';
  /** Of an answer, the method of its request. */
  readonly method: string;
  /** `params` of a request or notification, `result` or `error` of an answer; parsed on first use. */
  readonly value: unknown;
  /** The JSON that the value was parsed from: numbers may have lost digits. */
  readonly text?: string | undefined;
  /** Of an answer: that it is an error. */
  readonly isError: boolean;
  /** Of an answer to a tool's call. */
  readonly call?: { readonly callId: string; readonly tool: string } | undefined;
}

export type Passage =
  | { readonly kind: 'same'; readonly note?: ContentNote | undefined }
  | { readonly kind: 'changed'; readonly value: unknown; readonly note?: ContentNote | undefined }
  | RefusedPassage;

/** The message does not arrive. A peer that waits for an answer gets these words instead. */
export interface RefusedPassage {
  readonly kind: 'refused';
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

/** What a gate has noticed that is not about one call. */
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
}

export interface Guard {
  /** Whether the hub of the run must count the calls of this tool. Absent where none is counted there. */
  isLimited?(tool: string): boolean;
  /** What it must count this call for. */
  limits?(call: Pick<GuardedCall, 'tool' | 'args'>, nowMs: number): readonly CallLimit[];
  /** Gate 1, before the rules are asked. Nothing is counted by looking. */
  surface(call: GuardedCall, nowMs: number): GateVerdict;
  /** Gate 4, for what the rules let pass. Nothing is counted by looking. */
  content(call: GuardedCall, nowMs: number): GateVerdict;
  /**
   * A call that was too large to be read whole, at its end: what the gates say of the texts in it.
   * Absent when nobody minds.
   */
  gathered?(call: GuardedCall, texts: GatheredTexts): GateVerdict;
  /** The call goes to the server: now it counts. */
  passed(call: GuardedCall, nowMs: number): void;
  /** An allowed call has ended. */
  ended(end: CallEnd, nowMs: number): void;
  /** Whether such messages must be seen; what nobody wants to see passes as bytes. */
  wants(way: Way, kind: Passing['kind'], method: string): boolean;
  /** A message that `wants` asked for. */
  passing(way: Way, message: Passing, nowMs: number): Passage;
  /**
   * What stands around the value of a message that is no call: nothing of it can be changed. Absent
   * when nobody minds.
   */
  around?(way: Way, envelope: Envelope, nowMs: number): Passage;
  /** Whether such a message may pass although it is too large to be seen. */
  unseen(way: Way, kind: Passing['kind'], method: string): Passage;
  /** What was noticed since this was last asked. */
  notices(): readonly SurfaceNotice[];
}

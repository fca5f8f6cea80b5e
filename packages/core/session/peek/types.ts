// The facts about one JSON-RPC message that a first pass over its bytes finds.

import type { ByteRange, JsonReason } from '../../json/byte-scanner.ts';

export type { ByteRange };

/** The id of a request. `json` is its one canonical spelling, so it serves as a key: 1 is not "1". */
export interface MessageId {
  readonly type: 'string' | 'number' | 'null';
  readonly json: string;
}

/** The members of `params` that we may need. */
export interface SeenParams {
  /** `name`, when it is a string. */
  readonly name: string | undefined;
  readonly args: ByteRange | undefined;
  /** The arguments are an object in canonical form: their bytes can be hashed as they are. */
  readonly argsAreCanonical: boolean;
  /** `_meta`, when it is an object. */
  readonly meta: ByteRange | undefined;
  /** `_meta.progressToken`, as written. */
  readonly progressToken: ByteRange | undefined;
  /** The id that the model gave to the call, with its quotes; without escapes. */
  readonly toolUseId: ByteRange | undefined;
  /** `_meta["io.modelcontextprotocol/protocolVersion"]`. */
  readonly metaVersion: string | undefined;
  /** It has `_meta["io.modelcontextprotocol/clientCapabilities"]`. */
  readonly hasCapabilities: boolean;
  /** `protocolVersion` of `initialize`. */
  readonly protocolVersion: string | undefined;
  /** `requestId` of `notifications/cancelled`. */
  readonly requestId: MessageId | undefined;
  /** `taskId` of a request or a notification about a task. */
  readonly taskId: string | undefined;
  /** `_meta["io.modelcontextprotocol/subscriptionId"]`: the id of the request that it belongs to. */
  readonly subscriptionId: MessageId | undefined;
  /** It has members beside `name` and `arguments`. */
  readonly more: boolean;
  /** It has members that make a call another call: more than the labels of a request in `_meta`. */
  readonly bound: boolean;
}

export interface SeenRequest {
  readonly kind: 'request';
  readonly id: MessageId;
  readonly method: string;
  readonly params: SeenParams;
  /** It has members at its top that no revision of the protocol knows. */
  readonly extra: boolean;
}
export interface SeenNotification {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: SeenParams;
  readonly extra: boolean;
}
export interface SeenResponse {
  readonly kind: 'response';
  /** Absent in an error that answers nothing in particular. */
  readonly id: MessageId | undefined;
  readonly failed: 'no' | 'tool' | 'rpc';
  /** The code of a JSON-RPC error, when it is a whole number. */
  readonly code: number | undefined;
  /** The message of a JSON-RPC error with its quotes, as written. */
  readonly message: ByteRange | undefined;
  /** The whole result, for a preview. */
  readonly result: ByteRange | undefined;
  /** `result.protocolVersion`, which `initialize` negotiates. */
  readonly protocolVersion: string | undefined;
  /** `result.resultType`, since 2026-07-28. */
  readonly resultType: string | undefined;
  /** `result.resultType` says that the server needs input for a further round of the call. */
  readonly needsInput: boolean;
  /** The result has a member `task` (2025-11-25). */
  readonly hasTask: boolean;
  /** It has the mark in `_meta` or `data` that only Subluminal may write. */
  readonly forged: boolean;
  readonly extra: boolean;
}
export interface SeenBatch {
  readonly kind: 'batch';
}

export type InvalidReason =
  | JsonReason
  | 'duplicate_key'
  | 'folded_key'
  | 'too_many_keys'
  | 'version'
  | 'id'
  | 'method'
  | 'params'
  | 'conflict'
  | 'shape'
  | 'not_object';

export interface SeenInvalid {
  readonly kind: 'invalid';
  readonly reason: InvalidReason;
  /** Where, in bytes from the start of the line. */
  readonly offset: number;
  /** The id, if there is no doubt about it. */
  readonly id: MessageId | undefined;
  /** Whether it would have been a request, had it been valid. */
  readonly asks: boolean;
  /** Its method, if it is known. */
  readonly method: string | undefined;
}

export type Seen = SeenRequest | SeenNotification | SeenResponse | SeenBatch | SeenInvalid;

export const INVALID_WORDS: { readonly [R in InvalidReason]: string } = {
  utf8: 'it is not valid UTF-8',
  json: 'it is not valid JSON',
  depth: 'it nests too deeply',
  duplicate_key: 'a key stands in it twice',
  folded_key: 'a key in it differs from a key of the protocol only in its spelling',
  too_many_keys: 'it has too many keys',
  smuggled: 'it hides a further message behind a line break',
  version: 'it is not JSON-RPC 2.0',
  id: 'its id is neither a string nor a whole number',
  method: 'its method is no name, or only looks like a method of the protocol',
  params: 'its params are neither an object nor an array',
  conflict: 'it is a request and an answer at once',
  shape: 'it is neither a request nor an answer',
  not_object: 'it is not a JSON object',
};

/** The facts that are known before the end of the message. */
export interface OutlineSoFar {
  readonly batch: boolean;
  readonly id: MessageId | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  /** It has a result or an error: it is an answer. */
  readonly answers: boolean;
  readonly metaVersion: string | undefined;
  /** Where the arguments begin, in bytes from the start of the message; -1 while they have not. */
  readonly argsStart: number;
  readonly faulty: boolean;
}

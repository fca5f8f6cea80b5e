// What each wire can do. The three wires are one family: a folder each, with the same files.
import type { Failure, JsonObject } from '@subluminal/contracts';
import type {
  AnswerEvent,
  ModelAnswer,
  ModelRequest,
  StopReason,
  UpstreamError,
  Usage,
  WireName,
} from './form.ts';
import type { SseEvent } from './sse.ts';

/** What a translation lost, by the names that `degraded_features` has. */
export type DegradedFeature =
  | 'cache_control'
  | 'extended_thinking'
  | 'signed_thinking'
  | 'reasoning_effort'
  | 'images'
  | 'documents'
  | 'files'
  | 'hosted_tools'
  | 'custom_tools'
  | 'tool_namespaces'
  | 'parallel_tool_use'
  | 'tool_error'
  | 'top_k'
  | 'stop_sequences'
  | 'output_format'
  | 'refusal'
  | 'unknown_blocks'
  | 'unknown_fields';

export interface Written<T> {
  readonly value: T;
  /** Each once, in the order they were met. */
  readonly degraded: readonly DegradedFeature[];
}

export interface Wire {
  readonly name: WireName;
  readRequest(body: JsonObject): ModelRequest | Failure;
  /** Writes what the wire can carry. A request that came by this wire comes out as it went in. */
  writeRequest(request: ModelRequest): Written<JsonObject>;
  readAnswer(body: JsonObject): ModelAnswer | Failure;
  writeAnswer(answer: ModelAnswer, options?: AnswerOptions): Written<JsonObject>;
  /** Reads the stream of one answer. */
  answerReader(): AnswerReader;
  /** Writes the stream of one answer. */
  answerWriter(options?: AnswerOptions): AnswerWriter;
  /** Watches an answer that passes through unchanged, and parses no more of it than it must. */
  observer(): AnswerObserver;
  readError(status: number, body: string): UpstreamError;
  /** The error in the client's own shape. */
  writeError(error: UpstreamError): JsonObject;
  /** The same in a stream that has begun. */
  writeErrorEvent(error: UpstreamError): string;
  /** What keeps a stream open while nothing is said. */
  readonly keepAlive: string;
}

/** What an answer says that no other wire does. */
export interface AnswerOptions {
  /** When the answer was made: the OpenAI wires have the time in it. */
  readonly createdSec?: number;
  /** Whether the client wants the tokens at the end of a stream (chat); unless it is false, they are written. */
  readonly hasUsage?: boolean;
}

export interface AnswerReader {
  /** A malformed event is an `error` event and ends the stream. */
  push(event: SseEvent): readonly AnswerEvent[];
  /** The connection is at its end; an answer without its last event is an `error`. */
  end(): readonly AnswerEvent[];
}

export interface AnswerWriter {
  /** The bytes to send, as text; empty when the wire has no word for the event. */
  push(event: AnswerEvent): string;
  readonly degraded: readonly DegradedFeature[];
}

export interface AnswerObserver {
  push(event: SseEvent): void;
  /** For an answer that is not streamed. */
  whole(body: JsonObject): void;
  readonly seen: ObservedAnswer;
}

export interface ObservedAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly stop: StopReason | undefined;
  readonly usage: Usage | undefined;
  readonly error: UpstreamError | undefined;
  /** The tool calls that the answer asks for, by their ids and names. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string }[];
  /** Whether a token of content has come: nothing may be retried after that. */
  readonly hasContent: boolean;
  /** Whether the last event of the wire came. */
  readonly isComplete: boolean;
  /** Characters of text, thinking and arguments, for an estimate when the provider counts nothing. */
  readonly contentLength: number;
}

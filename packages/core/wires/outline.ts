// What is known of a request without parsing it: where its parts stand in the bytes. Most of a request has been
// seen before, since each one repeats the conversation; a part is walked through only when it is new.
import type { ByteRange } from '../json/byte-scanner.ts';
import type { WireName } from './shared/form.ts';

export interface RequestOutline {
  readonly wire: WireName;
  readonly model: string;
  /** The JSON string of the model, quotes included. */
  readonly modelRange: ByteRange;
  readonly isStream: boolean;
  readonly maxTokens?: number;
  /** The units that a conversation grows by, in their order. */
  readonly parts: readonly RequestPart[];
  readonly toolNames: readonly string[];
  /** Whether results of tools stand after the last words of the user: the agent is in its loop. */
  readonly isContinuation: boolean;
}

export interface RequestPart {
  readonly kind: 'system' | 'tool' | 'message';
  readonly range: ByteRange;
}

/** A string in a part that a person, a tool or a model wrote. */
export interface PartText {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_use' | 'tool_result' | 'tool_definition';
  /** The JSON string, quotes included. For arguments that are an object: one string in them. */
  readonly range: ByteRange;
  /** The string holds JSON of its own (`arguments` of a function call): what is replaced must stay JSON. */
  readonly isJson: boolean;
}

// A model call in our own words: every wire is read into this form and written from it. It holds no type of a
// vendor, and what it has no word for is kept in `rest`.
import type { JsonObject, JsonValue } from '@subluminal/contracts';

export type WireName = 'anthropic_messages' | 'openai_chat_completions' | 'openai_responses';

/** Members that the form has no word for. They are written again on the wire they came from, and dropped on another. */
export interface Rest {
  readonly wire: WireName;
  readonly members: JsonObject;
}

export interface ModelRequest {
  readonly model: string;
  /** What stands before the conversation: Anthropic's `system`, `instructions`, leading system messages. */
  readonly system: readonly Block[];
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly hasParallelTools?: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences: readonly string[];
  readonly isStream: boolean;
  readonly reasoning?: Reasoning;
  readonly output?: OutputFormat;
  /** Who the agent works for, as the client names them: `metadata.user_id`, `user`, `safety_identifier`. */
  readonly user?: string;
  readonly rest?: Rest;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly blocks: readonly Block[];
  readonly rest?: Rest;
}

export type Block =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ToolUseBlock
  | ToolResultBlock
  | ThinkingBlock
  | RefusalBlock
  | UnknownBlock;

interface BlockParts {
  readonly cache?: CacheMark;
  readonly rest?: Rest;
}

/** The provider caches what stands up to here. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h';
}

export interface TextBlock extends BlockParts {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageBlock extends BlockParts {
  readonly type: 'image';
  readonly source: MediaSource;
  readonly detail?: string;
}

export interface DocumentBlock extends BlockParts {
  readonly type: 'document';
  readonly source: MediaSource;
  readonly title?: string;
}

export type MediaSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  /** A file that one provider keeps: no other knows it. */
  | { readonly kind: 'file'; readonly wire: WireName; readonly id: string };

export interface ToolUseBlock extends BlockParts {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  /** The group of a tool that is known by two names (Responses). */
  readonly namespace?: string;
  /** The arguments as they were written: JSON, or free text for a custom tool. */
  readonly input: string;
  readonly isCustom?: boolean;
}

export interface ToolResultBlock extends BlockParts {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly blocks: readonly Block[];
  readonly isError: boolean;
  readonly isCustom?: boolean;
}

export interface ThinkingBlock extends BlockParts {
  readonly type: 'thinking';
  readonly text: string;
  /** What only the provider that signed or sealed it can use: never made, changed or sent to another. */
  readonly seal?: ThinkingSeal;
}

export type ThinkingSeal =
  | { readonly kind: 'signature'; readonly wire: WireName; readonly value: string }
  /** The thought itself is hidden: redacted thinking, encrypted reasoning. */
  | { readonly kind: 'encrypted'; readonly wire: WireName; readonly value: string };

export interface RefusalBlock extends BlockParts {
  readonly type: 'refusal';
  readonly text: string;
}

/** A block that only its own wire knows, such as the result of a tool that the provider runs. */
export interface UnknownBlock {
  readonly type: 'unknown';
  readonly wire: WireName;
  readonly value: JsonObject;
}

export type Tool = FunctionTool | CustomTool | HostedTool;

export interface FunctionTool extends BlockParts {
  readonly kind: 'function';
  readonly name: string;
  readonly namespace?: string;
  readonly namespaceDescription?: string;
  readonly description?: string;
  readonly schema: JsonObject;
  readonly isStrict?: boolean;
}

/** Takes free text instead of JSON (Responses). */
export interface CustomTool extends BlockParts {
  readonly kind: 'custom';
  readonly name: string;
  readonly namespace?: string;
  readonly namespaceDescription?: string;
  readonly description?: string;
  readonly format?: JsonValue;
}

/** A tool that the provider itself runs, such as a web search. */
export interface HostedTool {
  readonly kind: 'hosted';
  readonly wire: WireName;
  readonly value: JsonObject;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'any' | 'none' }
  | { readonly kind: 'tool'; readonly name: string };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Reasoning {
  readonly mode?: 'off' | 'adaptive' | 'budget';
  readonly budgetTokens?: number;
  readonly effort?: Effort;
  /** How much of the thinking the client wants to see. */
  readonly summary?: string;
}

export type OutputFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema';
      readonly name?: string;
      readonly schema: JsonObject;
      readonly isStrict?: boolean;
    };

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'tool_use'
  | 'stop_sequence'
  | 'refusal'
  /** The provider wants to be asked again with what it has so far. */
  | 'pause'
  | 'context_full';

/** The tokens of one turn. The four kinds never overlap: what was read from a cache is not in `inputTokens`. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is kept for an hour, which costs more. */
  readonly cacheWriteHourTokens: number;
  /** The part of `outputTokens` that was spent on thinking, where the provider says it. */
  readonly reasoningTokens?: number;
  /** Counted by us, because the provider did not. */
  readonly isEstimated: boolean;
}

export interface ModelAnswer {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly stop: StopReason;
  readonly stopSequence?: string;
  readonly usage?: Usage;
  readonly rest?: Rest;
}

/** What went wrong at the provider, in the words of all wires. */
export interface UpstreamError {
  readonly status: number;
  /** `invalid_request_error`, `rate_limit_error`, `overloaded_error`, …: Anthropic's names. */
  readonly type: string;
  readonly message: string;
  readonly code?: string;
}

/**
 * One step of an answer that is streamed. Blocks come one after the other: a block ends before the next starts,
 * and a reader of a wire that mixes them holds back what comes too early.
 */
export type AnswerEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly usage?: Usage }
  | { readonly type: 'block_start'; readonly block: Block }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'seal'; readonly seal: ThinkingSeal }
  /** A fragment of the arguments of a tool, as it was written. */
  | { readonly type: 'input'; readonly text: string }
  | { readonly type: 'block_end' }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'stop'; readonly stop: StopReason; readonly stopSequence?: string }
  | { readonly type: 'error'; readonly error: UpstreamError }
  | { readonly type: 'ping' }
  /** The stream is complete: nothing follows. */
  | { readonly type: 'end' };

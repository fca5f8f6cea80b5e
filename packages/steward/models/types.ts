// What Steward asks of a model, whatever wire its provider speaks.
import type { Failure, JsonObject } from '@subluminal/contracts';

/** Why a model is asked; each may have a model of its own. */
export type Purpose = 'agent' | 'guardian' | 'background' | 'worker';

export interface Models {
  ask(question: ModelQuestion): Promise<ModelAnswer | Failure>;
}

export interface ModelQuestion {
  readonly purpose: Purpose;
  readonly runId: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
  readonly tokensMax: number;
  readonly signal?: AbortSignal;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly uses: readonly ModelUse[] }
  | {
      readonly role: 'tool';
      readonly useId: string;
      readonly text: string;
      readonly isError: boolean;
    };

/**
 * A tool that the model wants to use. The name may be one that was not offered, and the arguments may be what no tool
 * takes: arguments that are no JSON object come as `{ input: TEXT }`.
 */
export interface ModelUse {
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface ModelAnswer {
  readonly text: string;
  /** None of an answer that was cut off by its length: the last may be incomplete. */
  readonly uses: readonly ModelUse[];
  readonly stop: 'end' | 'tools' | 'length' | 'refusal';
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
}

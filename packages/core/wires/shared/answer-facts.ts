import type { Block, StopReason, UpstreamError, Usage } from './form.ts';
import type { ObservedAnswer } from './wire.ts';

const TOOL_CALLS_MAX = 1_024;

/** What has been seen of an answer so far. */
export class AnswerFacts implements ObservedAnswer {
  id: string | undefined;
  model: string | undefined;
  stop: StopReason | undefined;
  usage: Usage | undefined;
  error: UpstreamError | undefined;
  hasContent = false;
  isComplete = false;
  contentLength = 0;
  readonly #toolCalls: { readonly id: string; readonly name: string }[] = [];

  get toolCalls(): readonly { readonly id: string; readonly name: string }[] {
    return this.#toolCalls;
  }

  addContent(length: number): void {
    if (length === 0) return;
    this.hasContent = true;
    this.contentLength += length;
  }

  addToolCall(id: string, name: string): void {
    this.hasContent = true;
    if (this.#toolCalls.length < TOOL_CALLS_MAX) this.#toolCalls.push({ id, name });
  }
}

/** The kinds of blocks that an answer has. */
export function blockTypes(blocks: readonly Block[]): ReadonlySet<Block['type']> {
  return new Set(blocks.map(({ type }) => type));
}

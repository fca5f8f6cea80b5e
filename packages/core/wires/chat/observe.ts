// Watches a chat answer that passes through. Most events are a piece of text, which is measured, not parsed.
import type { JsonObject } from '@subluminal/contracts';
import { AnswerFacts } from '../shared/answer-facts.ts';
import type { Block, UpstreamError } from '../shared/form.ts';
import { stringLength } from '../shared/json-length.ts';
import { errorFrom } from '../shared/openai-errors.ts';
import { numberIn, objectIn, objectsIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerObserver, ObservedAnswer } from '../shared/wire.ts';
import { fallbackCallId, readStopReason } from './read-answer.ts';
import { readChatUsage } from './usage.ts';

/** A quote inside a string is escaped, so that none of these can stand in the text of a model. */
const TEXT_PIECE = '"content":"';
const OTHERS = ['"usage":{', '"finish_reason":"', '"tool_calls":', '"error":'];

export class ChatObserver implements AnswerObserver {
  readonly #seen = new AnswerFacts();
  readonly #types = new Set<Block['type']>();
  #reason: string | undefined;

  get seen(): ObservedAnswer {
    return this.#seen;
  }

  push({ data }: SseEvent): void {
    if (this.#seen.hasContent && this.#isTextOnly(data)) return;
    if (data === '[DONE]') {
      this.#complete();
      return;
    }
    const chunk = parseObject(data);
    if (chunk === undefined) this.#fail(malformed('A chunk of the stream is not JSON.'));
    else this.#read(chunk, 'delta');
  }

  whole(body: JsonObject): void {
    this.#read(body, 'message');
    if (objectsIn(body, 'choices').length > 0) this.#complete();
  }

  #isTextOnly(data: string): boolean {
    const at = data.indexOf(TEXT_PIECE);
    if (at === -1 || OTHERS.some((name) => data.includes(name))) return false;
    this.#seen.contentLength += stringLength(data, at + TEXT_PIECE.length);
    return true;
  }

  #read(body: JsonObject, member: 'delta' | 'message'): void {
    const error = body['error'];
    if (error !== undefined && error !== null) {
      this.#fail(errorFrom(error, 502));
      return;
    }
    this.#seen.id ??= stringIn(body, 'id');
    this.#seen.model ??= stringIn(body, 'model');
    const usage = objectIn(body, 'usage');
    if (usage !== undefined) this.#seen.usage = readChatUsage(usage);
    for (const choice of objectsIn(body, 'choices')) {
      this.#readMessage(objectIn(choice, member) ?? {});
      this.#reason = stringIn(choice, 'finish_reason') ?? this.#reason;
      // A server may close the connection instead of saying `[DONE]`.
      if (this.#reason !== undefined) this.#complete();
    }
  }

  #readMessage(message: JsonObject): void {
    for (const name of ['content', 'reasoning_content', 'reasoning', 'refusal']) {
      const text = stringIn(message, name) ?? '';
      this.#seen.addContent(text.length);
      if (name === 'refusal' && text !== '') this.#types.add('refusal');
    }
    for (const call of objectsIn(message, 'tool_calls')) {
      const called = objectIn(call, 'function') ?? objectIn(call, 'custom') ?? {};
      const text = stringIn(called, 'arguments') ?? stringIn(called, 'input') ?? '';
      this.#seen.addContent(text.length);
      const name = stringIn(called, 'name') ?? '';
      if (name === '') continue;
      const index = numberIn(call, 'index') ?? this.#seen.toolCalls.length;
      this.#types.add('tool_use');
      this.#seen.addToolCall(
        stringIn(call, 'id') ?? fallbackCallId(this.#seen.id ?? '', index),
        name,
      );
    }
  }

  #complete(): void {
    this.#seen.isComplete = true;
    this.#seen.stop = readStopReason(this.#reason, this.#types);
  }

  #fail(error: UpstreamError): void {
    this.#seen.error ??= error;
  }
}

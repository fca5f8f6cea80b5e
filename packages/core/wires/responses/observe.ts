// Watches a response that passes through. Pieces of text are measured; only events with facts are parsed.
import type { JsonObject } from '@subluminal/contracts';
import { AnswerFacts } from '../shared/answer-facts.ts';
import type { Block } from '../shared/form.ts';
import { stringLength } from '../shared/json-length.ts';
import { errorFrom } from '../shared/openai-errors.ts';
import { objectIn, objectsIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerObserver, ObservedAnswer } from '../shared/wire.ts';
import { responseError } from './errors.ts';
import { stopReason } from './read-answer.ts';
import { readResponsesUsage } from './usage.ts';

const DELTA = '"delta":"';

export class ResponsesObserver implements AnswerObserver {
  readonly #seen = new AnswerFacts();
  readonly #types = new Set<Block['type']>();

  get seen(): ObservedAnswer {
    return this.#seen;
  }

  push({ event, data }: SseEvent): void {
    if (event.endsWith('.delta')) {
      const at = data.indexOf(DELTA);
      if (at !== -1) {
        this.#seen.addContent(stringLength(data, at + DELTA.length));
        return;
      }
    }
    // These repeat what was seen; they are the longest of all events.
    if (REPEATED.test(event) || data === '[DONE]') return;
    const parsed = parseObject(data);
    if (parsed === undefined) {
      this.#seen.error ??= malformed('An event of the stream is not JSON.');
      return;
    }
    this.#read(parsed);
  }

  whole(body: JsonObject): void {
    const error = body['error'] ?? null;
    if (error !== null) {
      this.#seen.error ??= errorFrom(error, 502);
      return;
    }
    for (const item of objectsIn(body, 'output')) {
      this.#addItem(item);
      this.#addItemContent(item);
    }
    this.#end(body);
  }

  #read(event: JsonObject): void {
    const response = objectIn(event, 'response');
    switch (stringIn(event, 'type')) {
      case 'response.created':
        this.#name(response ?? {});
        break;
      case 'response.output_item.added':
        this.#addItem(objectIn(event, 'item') ?? {});
        break;
      case 'response.content_part.added':
        if (stringIn(objectIn(event, 'part') ?? {}, 'type') === 'refusal') {
          this.#types.add('refusal');
        }
        break;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        this.#end(response ?? {});
        break;
      case 'response.failed':
      case 'error':
        this.#name(response ?? {});
        this.#seen.error ??= responseError(event);
        break;
      default:
        this.#seen.addContent((stringIn(event, 'delta') ?? '').length);
    }
  }

  #name(response: JsonObject): void {
    this.#seen.id ??= stringIn(response, 'id');
    this.#seen.model ??= stringIn(response, 'model');
    const usage = objectIn(response, 'usage');
    if (usage !== undefined) this.#seen.usage = readResponsesUsage(usage);
  }

  #addItem(item: JsonObject): void {
    const type = stringIn(item, 'type');
    if (type !== 'function_call' && type !== 'custom_tool_call') return;
    this.#types.add('tool_use');
    this.#seen.addToolCall(stringIn(item, 'call_id') ?? '', stringIn(item, 'name') ?? '');
  }

  /** Of an answer that is not streamed. */
  #addItemContent(item: JsonObject): void {
    const texts = [
      stringIn(item, 'arguments'),
      stringIn(item, 'input'),
      ...[...objectsIn(item, 'content'), ...objectsIn(item, 'summary')].flatMap((part) => {
        const refusal = stringIn(part, 'refusal');
        if (refusal !== undefined) this.#types.add('refusal');
        return [stringIn(part, 'text'), refusal];
      }),
    ];
    for (const text of texts) this.#seen.addContent(text?.length ?? 0);
  }

  #end(response: JsonObject): void {
    this.#name(response);
    this.#seen.stop = stopReason(response, this.#types);
    this.#seen.isComplete = true;
  }
}

const REPEATED =
  /^response\.(?:in_progress|queued|output_item\.done|content_part\.done|.*_text\.done|.*_part\.done|.*_arguments\.done|.*_input\.done|refusal\.done)$/;

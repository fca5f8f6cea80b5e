// Reads the stream of a response.
import type { JsonObject } from '@subluminal/contracts';
import { BlockLanes } from '../shared/block-lanes.ts';
import type { AnswerEvent, Block, UpstreamError } from '../shared/form.ts';
import { numberIn, objectIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerReader } from '../shared/wire.ts';
import { responseError } from './errors.ts';
import { RESPONSES } from './parts.ts';
import { stopReason } from './read-answer.ts';
import { readReasoningItem } from './read-items.ts';
import { readResponsesUsage } from './usage.ts';

export class ResponsesAnswerReader implements AnswerReader {
  readonly #lanes = new BlockLanes();
  readonly #seen = new Set<Block['type']>();
  /** Blocks that got a piece: the last event of a block repeats all of them. */
  readonly #filled = new Set<string>();
  #isStarted = false;
  #isEnded = false;

  push({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#isEnded || data === '[DONE]') return [];
    const event = parseObject(data);
    if (event === undefined) return this.#fail(malformed('An event of the stream is not JSON.'));
    const events = this.#read(event);
    if (!this.#lanes.isOverflowing) return events;
    return [...events, ...this.#fail(malformed('The stream mixes more than can be held back.'))];
  }

  end(): readonly AnswerEvent[] {
    if (this.#isEnded) return [];
    return this.#fail(malformed('The stream broke off before the answer was complete.'));
  }

  #read(event: JsonObject): readonly AnswerEvent[] {
    switch (stringIn(event, 'type')) {
      case 'response.created':
      case 'response.in_progress':
        return this.#start(objectIn(event, 'response') ?? {});
      case 'response.output_item.added':
        return this.#addItem(event);
      case 'response.content_part.added':
        return this.#addPart(event);
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#piece(partKey(event), { type: 'text', text: textIn(event, 'delta') });
      case 'response.output_text.done':
        return this.#last(partKey(event), { type: 'text', text: textIn(event, 'text') });
      case 'response.refusal.done':
        return this.#last(partKey(event), { type: 'text', text: textIn(event, 'refusal') });
      case 'response.content_part.done':
        return this.#lanes.close(partKey(event));
      case 'response.reasoning_summary_part.added':
        // Parts of a summary stand apart, as paragraphs do.
        return this.#filled.has(itemKey(event))
          ? this.#piece(itemKey(event), { type: 'thinking', text: '\n\n' })
          : [];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#piece(itemKey(event), { type: 'thinking', text: textIn(event, 'delta') });
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#piece(itemKey(event), { type: 'input', text: textIn(event, 'delta') });
      case 'response.function_call_arguments.done':
        return this.#last(itemKey(event), { type: 'input', text: textIn(event, 'arguments') });
      case 'response.custom_tool_call_input.done':
        return this.#last(itemKey(event), { type: 'input', text: textIn(event, 'input') });
      case 'response.output_item.done':
        return this.#endItem(event);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.#finish(objectIn(event, 'response') ?? {});
      case 'response.failed':
      case 'error':
        return this.#fail(responseError(event));
      default:
        return [];
    }
  }

  #start(response: JsonObject): readonly AnswerEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const id = stringIn(response, 'id') ?? '';
    return [{ type: 'start', id, model: stringIn(response, 'model') ?? '' }];
  }

  #addItem(event: JsonObject): readonly AnswerEvent[] {
    const item = objectIn(event, 'item') ?? {};
    const key = itemKey(event);
    switch (stringIn(item, 'type')) {
      case 'function_call':
      case 'custom_tool_call': {
        const namespace = stringIn(item, 'namespace');
        return this.#open(key, {
          type: 'tool_use',
          id: stringIn(item, 'call_id') ?? stringIn(item, 'id') ?? '',
          name: stringIn(item, 'name') ?? '',
          input: '',
          ...(namespace === undefined ? {} : { namespace }),
          ...(stringIn(item, 'type') === 'custom_tool_call' ? { isCustom: true } : {}),
        });
      }
      case 'reasoning':
        return this.#open(key, { type: 'thinking', text: '' });
      default:
        return [];
    }
  }

  #addPart(event: JsonObject): readonly AnswerEvent[] {
    const type = stringIn(objectIn(event, 'part') ?? {}, 'type');
    if (type !== 'output_text' && type !== 'refusal') return [];
    return this.#open(partKey(event), { type: type === 'refusal' ? 'refusal' : 'text', text: '' });
  }

  #open(key: string, block: Block): readonly AnswerEvent[] {
    this.#seen.add(block.type);
    return this.#lanes.open(key, block);
  }

  #piece(key: string, event: AnswerEvent & { readonly text: string }): readonly AnswerEvent[] {
    // A piece of a block that never began would only fill the memory.
    if (event.text === '' || !this.#lanes.has(key)) return [];
    this.#filled.add(key);
    return this.#lanes.add(key, event);
  }

  /** Some servers write a block at once, in its last event. */
  #last(key: string, event: AnswerEvent & { readonly text: string }): readonly AnswerEvent[] {
    return this.#filled.has(key) ? [] : this.#piece(key, event);
  }

  #endItem(event: JsonObject): readonly AnswerEvent[] {
    const item = objectIn(event, 'item') ?? {};
    const key = itemKey(event);
    switch (stringIn(item, 'type')) {
      case 'message':
        return [];
      case 'reasoning': {
        const { text, seal } = readReasoningItem(item);
        return [
          ...this.#last(key, { type: 'thinking', text }),
          ...(seal === undefined ? [] : this.#lanes.add(key, { type: 'seal', seal })),
          ...this.#lanes.close(key),
        ];
      }
      case 'function_call':
      case 'custom_tool_call': {
        const input = stringIn(item, 'arguments') ?? stringIn(item, 'input') ?? '';
        const unopened = this.#lanes.has(key) || this.#filled.has(key) ? [] : this.#addItem(event);
        return [
          ...unopened,
          ...this.#last(key, { type: 'input', text: input }),
          ...this.#lanes.close(key),
        ];
      }
      default:
        return [
          ...this.#open(key, { type: 'unknown', wire: RESPONSES, value: item }),
          ...this.#lanes.close(key),
        ];
    }
  }

  #finish(response: JsonObject): readonly AnswerEvent[] {
    const started = this.#start(response);
    this.#isEnded = true;
    const usage = objectIn(response, 'usage');
    return [
      ...started,
      ...this.#lanes.closeAll(),
      ...(usage === undefined
        ? []
        : [{ type: 'usage', usage: readResponsesUsage(usage) } as const]),
      { type: 'stop', stop: stopReason(response, this.#seen) },
      { type: 'end' },
    ];
  }

  #fail(error: UpstreamError): readonly AnswerEvent[] {
    this.#isEnded = true;
    return [{ type: 'error', error }];
  }
}

function itemKey(event: JsonObject): string {
  return `item ${numberIn(event, 'output_index') ?? 0}`;
}

function partKey(event: JsonObject): string {
  return `${itemKey(event)} part ${numberIn(event, 'content_index') ?? 0}`;
}

function textIn(event: JsonObject, name: string): string {
  return stringIn(event, name) ?? '';
}

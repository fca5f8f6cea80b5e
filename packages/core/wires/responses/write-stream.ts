// Writes the stream of a response: every item and every part of it begins, grows and ends by events of its own.
import type { JsonObject } from '@subluminal/contracts';
import { Degraded } from '../shared/degraded.ts';
import type { AnswerEvent, Block, StopReason, Usage } from '../shared/form.ts';
import { sseText } from '../shared/sse.ts';
import type { AnswerOptions, AnswerWriter, DegradedFeature } from '../shared/wire.ts';
import { failedError } from './errors.ts';
import { RESPONSES } from './parts.ts';
import { endOf, itemId, responseObject, writeOutputItem } from './write-answer.ts';

interface OpenItem {
  readonly block: Block;
  readonly id: string;
  /** What was written so far: the last events repeat it. */
  text: string;
  seal: Extract<Block, { readonly type: 'thinking' }>['seal'];
}

export class ResponsesAnswerWriter implements AnswerWriter {
  readonly #degraded = new Degraded();
  readonly #createdSec: number;
  readonly #output: JsonObject[] = [];
  #id = '';
  #model = '';
  #item: OpenItem | undefined;
  #sequence = 0;
  #hasRefusal = false;
  #stop: StopReason = 'end_turn';
  #usage: Usage | undefined;

  constructor({ createdSec = 0 }: AnswerOptions = {}) {
    this.#createdSec = createdSec;
  }

  get degraded(): readonly DegradedFeature[] {
    return this.#degraded.list;
  }

  push(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'block_start':
        return this.#startItem(event.block);
      case 'text':
      case 'thinking':
      case 'input':
        return this.#piece(event.text);
      case 'seal':
        if (event.seal.wire !== RESPONSES) this.#degraded.add('signed_thinking');
        else if (this.#item !== undefined) this.#item.seal = event.seal;
        return '';
      case 'block_end':
        return this.#endItem();
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'stop':
        this.#stop = event.stop;
        return '';
      case 'error':
        return this.#fail(failedError(event.error));
      case 'ping':
        return '';
      case 'end':
        return this.#end();
    }
  }

  #start(event: Extract<AnswerEvent, { readonly type: 'start' }>): string {
    this.#id = event.id;
    this.#model = event.model;
    this.#usage = event.usage;
    const response = this.#response({ status: 'in_progress', usage: undefined });
    return (
      this.#write('response.created', { response }) +
      this.#write('response.in_progress', { response })
    );
  }

  #startItem(block: Block): string {
    const id = itemId(block, this.#id, this.#output.length);
    this.#item = { block, id, text: '', seal: undefined };
    if (block.type === 'refusal') this.#hasRefusal = true;
    const item = this.#itemObject(this.#item, 'in_progress');
    if (item === undefined) return '';
    const begun = this.#write('response.output_item.added', { ...this.#place, item });
    const part = this.#part('');
    const isMessage = block.type === 'text' || block.type === 'refusal';
    const added = isMessage
      ? this.#write('response.content_part.added', { ...this.#partPlace, part })
      : '';
    const first = block.type === 'tool_use' ? block.input : 'text' in block ? block.text : '';
    return begun + added + this.#piece(first);
  }

  /** An item as it is when it begins, without the text that its block may have. */
  #itemObject({ block, id, text, seal }: OpenItem, status: string): JsonObject | undefined {
    const isBegun = status === 'in_progress';
    const whole = wholeBlock(block, { text, seal });
    const item = writeOutputItem(whole, { id, degraded: this.#degraded });
    if (item === undefined || block.type === 'unknown') return item;
    if (block.type === 'thinking') return item;
    if (block.type === 'tool_use') {
      const empty = block.isCustom === true ? { input: '' } : { arguments: '' };
      return { ...item, status, ...(isBegun ? empty : {}) };
    }
    return { ...item, status, ...(isBegun ? { content: [] } : {}) };
  }

  get #place(): JsonObject {
    return { output_index: this.#output.length };
  }

  get #partPlace(): JsonObject {
    return { item_id: this.#item?.id ?? '', ...this.#place, content_index: 0 };
  }

  #part(text: string): JsonObject {
    return this.#item?.block.type === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [] };
  }

  #piece(delta: string): string {
    const item = this.#item;
    if (item === undefined || delta === '') return '';
    const isFirst = item.text === '';
    item.text += delta;
    const place = { item_id: item.id, ...this.#place };
    switch (item.block.type) {
      case 'text':
        return this.#write('response.output_text.delta', {
          ...place,
          content_index: 0,
          delta,
          logprobs: [],
        });
      case 'refusal':
        return this.#write('response.refusal.delta', { ...place, content_index: 0, delta });
      case 'tool_use':
        return this.#write(
          item.block.isCustom === true
            ? 'response.custom_tool_call_input.delta'
            : 'response.function_call_arguments.delta',
          { ...place, delta },
        );
      case 'thinking': {
        const summary = { ...place, summary_index: 0 };
        const part = { type: 'summary_text', text: '' };
        const added = isFirst
          ? this.#write('response.reasoning_summary_part.added', { ...summary, part })
          : '';
        return added + this.#write('response.reasoning_summary_text.delta', { ...summary, delta });
      }
      default:
        return '';
    }
  }

  #endItem(): string {
    const item = this.#item;
    if (item === undefined) return '';
    const isCall = item.block.type === 'tool_use' && item.block.isCustom !== true;
    const filled = isCall && item.text === '' ? this.#piece('{}') : '';
    const whole = this.#itemObject(item, 'completed');
    if (whole === undefined) {
      this.#item = undefined;
      return filled;
    }
    const text =
      filled +
      this.#lastPieces(item) +
      this.#write('response.output_item.done', { ...this.#place, item: whole });
    this.#output.push(whole);
    this.#item = undefined;
    return text;
  }

  #lastPieces({ block, id, text }: OpenItem): string {
    const place = { item_id: id, ...this.#place };
    switch (block.type) {
      case 'text':
      case 'refusal': {
        const part = this.#part(text);
        const done =
          block.type === 'text'
            ? this.#write('response.output_text.done', { ...this.#partPlace, text, logprobs: [] })
            : this.#write('response.refusal.done', { ...this.#partPlace, refusal: text });
        return done + this.#write('response.content_part.done', { ...this.#partPlace, part });
      }
      case 'tool_use':
        return block.isCustom === true
          ? this.#write('response.custom_tool_call_input.done', { ...place, input: text })
          : this.#write('response.function_call_arguments.done', {
              ...place,
              name: block.name,
              arguments: text,
            });
      case 'thinking': {
        if (text === '') return '';
        const summary = { ...place, summary_index: 0 };
        const part = { type: 'summary_text', text };
        return (
          this.#write('response.reasoning_summary_text.done', { ...summary, text }) +
          this.#write('response.reasoning_summary_part.done', { ...summary, part })
        );
      }
      default:
        return '';
    }
  }

  #end(): string {
    const end = endOf(this.#stop, this.#hasRefusal);
    return this.#write(`response.${end.status}`, { response: this.#response(end) });
  }

  #fail(error: JsonObject): string {
    return this.#write('response.failed', {
      response: this.#response({ status: 'failed', error }),
    });
  }

  #response(fields: Partial<Parameters<typeof responseObject>[0]>): JsonObject {
    return responseObject({
      id: this.#id,
      model: this.#model,
      createdSec: this.#createdSec,
      output: [...this.#output],
      usage: this.#usage,
      status: 'completed',
      incomplete_details: null,
      ...fields,
    });
  }

  #write(type: string, fields: JsonObject): string {
    const event = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return sseText(type, JSON.stringify(event));
  }
}

/** The block with what came after its start; thinking of another wire loses its seal. */
function wholeBlock(block: Block, { text, seal }: Pick<OpenItem, 'text' | 'seal'>): Block {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { ...block, text };
    case 'thinking':
      return { ...block, text, ...(seal?.wire === RESPONSES ? { seal } : {}) };
    case 'tool_use':
      return { ...block, input: text };
    default:
      return block;
  }
}

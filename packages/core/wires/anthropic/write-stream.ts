// The stream of an answer of the Anthropic wire from our own words.
import type { JsonObject } from '@subluminal/contracts';
import { CUSTOM_INPUT } from '../shared/custom-tools.ts';
import { Degraded } from '../shared/degraded.ts';
import type { AnswerEvent, Block, StopReason, Usage } from '../shared/form.ts';
import { sseText } from '../shared/sse.ts';
import type { AnswerWriter, DegradedFeature } from '../shared/wire.ts';
import { writeAnthropicErrorEvent } from './errors.ts';
import { ANTHROPIC } from './read-blocks.ts';
import { writeAnthropicUsage } from './usage.ts';
import { NO_USAGE, writeAnswerBlock, writeStopReason } from './write-answer.ts';

export const PING = sseText('ping', '{"type":"ping"}');

export function anthropicWriter(): AnswerWriter {
  return new StreamWriter();
}

class StreamWriter implements AnswerWriter {
  private readonly losses = new Degraded();
  private index = -1;
  private isStarted = false;
  private hasEnded = false;
  /** The block that is open; undefined also while one goes by that has no words here. */
  private open: Block | undefined;
  private usage: Usage = NO_USAGE;
  private stop: { readonly reason: StopReason; readonly sequence: string | null } = {
    reason: 'end_turn',
    sequence: null,
  };

  get degraded(): readonly DegradedFeature[] {
    return this.losses.list;
  }

  push(event: AnswerEvent): string {
    if (this.hasEnded) return '';
    switch (event.type) {
      case 'start':
        return this.start(event.id, event.model, event.usage);
      case 'block_start':
        return this.startBlock(event.block);
      case 'text':
        return this.delta({ type: 'text_delta', text: event.text });
      case 'thinking':
        return this.delta({ type: 'thinking_delta', thinking: event.text });
      case 'seal':
        if (event.seal.wire === ANTHROPIC && event.seal.kind === 'signature') {
          return this.delta({ type: 'signature_delta', signature: event.seal.value });
        }
        this.losses.add('signed_thinking');
        return '';
      case 'input':
        return this.input(event.text);
      case 'block_end':
        return this.endBlock();
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'stop':
        this.stop = { reason: event.stop, sequence: event.stopSequence ?? null };
        return '';
      case 'error':
        this.hasEnded = true;
        return writeAnthropicErrorEvent(event.error);
      case 'ping':
        return PING;
      case 'end':
        return this.end();
    }
  }

  private start(id: string, model: string, usage: Usage | undefined): string {
    if (this.isStarted) return '';
    this.isStarted = true;
    this.usage = usage ?? this.usage;
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeAnthropicUsage(this.usage),
    };
    return eventText('message_start', { message });
  }

  private startBlock(block: Block): string {
    const value = writeAnswerBlock(emptyBlock(block), this.losses);
    if (value === undefined) return '';
    this.index++;
    this.open = block;
    const start = eventText('content_block_start', { index: this.index, content_block: value });
    return start + this.firstFragment(block);
  }

  /** Clients take the text and the arguments of a block from its fragments only. */
  private firstFragment(block: Block): string {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return block.text === '' ? '' : this.delta({ type: 'text_delta', text: block.text });
      case 'thinking':
        if (block.text === '') return '';
        return this.delta({ type: 'thinking_delta', thinking: block.text });
      case 'tool_use': {
        const opening = block.isCustom === true ? this.json(`{"${CUSTOM_INPUT}":"`) : '';
        return block.input === '' ? opening : opening + this.input(block.input);
      }
      default:
        return '';
    }
  }

  private input(text: string): string {
    const isCustom = this.open?.type === 'tool_use' && this.open.isCustom === true;
    return this.json(isCustom ? JSON.stringify(text).slice(1, -1) : text);
  }

  private json(text: string): string {
    return this.delta({ type: 'input_json_delta', partial_json: text });
  }

  private delta(delta: JsonObject): string {
    if (this.open === undefined) return '';
    return eventText('content_block_delta', { index: this.index, delta });
  }

  private endBlock(): string {
    if (this.open === undefined) return '';
    const isCustom = this.open.type === 'tool_use' && this.open.isCustom === true;
    const closing = isCustom ? this.json('"}') : '';
    this.open = undefined;
    return closing + eventText('content_block_stop', { index: this.index });
  }

  private end(): string {
    const start = this.isStarted ? '' : this.start('', '', undefined);
    const open = this.endBlock();
    this.hasEnded = true;
    const { reason, sequence } = this.stop;
    const delta = { stop_reason: writeStopReason(reason), stop_sequence: sequence };
    const usage = writeAnthropicUsage(this.usage);
    return (
      start + open + eventText('message_delta', { delta, usage }) + eventText('message_stop', {})
    );
  }
}

/** The block as it starts, before its fragments. */
function emptyBlock(block: Block): Block {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { ...block, text: '' };
    case 'thinking':
      return { ...block, text: '' };
    case 'tool_use':
      return { ...block, input: '', isCustom: false };
    default:
      return block;
  }
}

function eventText(type: string, members: JsonObject): string {
  return sseText(type, JSON.stringify({ type, ...members }));
}

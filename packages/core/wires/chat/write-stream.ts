// Writes the stream of a chat answer.
import type { JsonObject } from '@subluminal/contracts';
import { Degraded } from '../shared/degraded.ts';
import type { AnswerEvent, Block, StopReason, Usage } from '../shared/form.ts';
import { writeOpenAiError } from '../shared/openai-errors.ts';
import { jsonObject } from '../shared/read-members.ts';
import { sseText } from '../shared/sse.ts';
import type { AnswerOptions, AnswerWriter, DegradedFeature } from '../shared/wire.ts';
import { writeChatUsage } from './usage.ts';
import { FINISH_REASONS } from './write-answer.ts';

export class ChatAnswerWriter implements AnswerWriter {
  readonly #degraded = new Degraded();
  readonly #options: AnswerOptions;
  #id = '';
  #model = '';
  #block: Block | undefined;
  #callIndex = -1;
  #hasInput = false;
  #stop: StopReason = 'end_turn';
  #usage: Usage | undefined;

  constructor(options: AnswerOptions = {}) {
    this.#options = options;
  }

  get degraded(): readonly DegradedFeature[] {
    return this.#degraded.list;
  }

  push(event: AnswerEvent): string {
    switch (event.type) {
      case 'start':
        this.#id = event.id;
        this.#model = event.model;
        this.#usage = event.usage;
        return this.#delta({ role: 'assistant', content: '', refusal: null });
      case 'block_start':
        return this.#startBlock(event.block);
      case 'text':
        return this.#say(event.text);
      case 'thinking':
        return this.#delta({ reasoning_content: event.text });
      case 'seal':
        this.#degraded.add('signed_thinking');
        return '';
      case 'input':
        return this.#input(event.text);
      case 'block_end':
        return this.#endBlock();
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'stop':
        this.#stop = event.stop;
        return '';
      case 'error':
        return sseText('message', JSON.stringify(writeOpenAiError(event.error)));
      case 'ping':
        return '';
      case 'end':
        return this.#end();
    }
  }

  #startBlock(block: Block): string {
    this.#block = block;
    this.#hasInput = false;
    switch (block.type) {
      case 'text':
      case 'refusal':
        return block.text === '' ? '' : this.#say(block.text);
      case 'thinking':
        if (block.seal !== undefined) this.#degraded.add('signed_thinking');
        return block.text === '' ? '' : this.#delta({ reasoning_content: block.text });
      case 'tool_use':
        this.#callIndex += 1;
        if (block.namespace !== undefined) this.#degraded.add('tool_namespaces');
        return [this.#startCall(block.id, block.name), this.#input(block.input)].join('');
      case 'unknown':
        this.#degraded.add('unknown_blocks');
        return '';
      default:
        this.#degraded.add(block.type === 'image' ? 'images' : 'unknown_blocks');
        return '';
    }
  }

  #startCall(id: string, name: string): string {
    const index = this.#callIndex;
    const call = this.#isCustom
      ? { index, id, type: 'custom', custom: { name, input: '' } }
      : { index, id, type: 'function', function: { name, arguments: '' } };
    return this.#delta({ tool_calls: [call] });
  }

  get #isCustom(): boolean {
    return this.#block?.type === 'tool_use' && this.#block.isCustom === true;
  }

  #say(text: string): string {
    return this.#delta(this.#block?.type === 'refusal' ? { refusal: text } : { content: text });
  }

  #input(text: string): string {
    if (text === '') return '';
    this.#hasInput = true;
    const index = this.#callIndex;
    const call = this.#isCustom
      ? { index, custom: { input: text } }
      : { index, function: { arguments: text } };
    return this.#delta({ tool_calls: [call] });
  }

  #endBlock(): string {
    const isEmptyCall = this.#block?.type === 'tool_use' && !this.#isCustom && !this.#hasInput;
    const text = isEmptyCall ? this.#input('{}') : '';
    this.#block = undefined;
    return text;
  }

  #end(): string {
    const finish = this.#chunk([
      { index: 0, delta: {}, logprobs: null, finish_reason: FINISH_REASONS[this.#stop] },
    ]);
    const usage = this.#options.hasUsage === false ? undefined : this.#usage;
    const tokens = usage === undefined ? '' : this.#chunk([], writeChatUsage(usage));
    return `${finish}${tokens}${sseText('message', '[DONE]')}`;
  }

  #delta(delta: JsonObject): string {
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]);
  }

  #chunk(choices: readonly JsonObject[], usage?: JsonObject): string {
    const chunk = jsonObject({
      id: this.#id,
      object: 'chat.completion.chunk',
      created: this.#options.createdSec ?? 0,
      model: this.#model,
      choices,
      usage,
    });
    return sseText('message', JSON.stringify(chunk));
  }
}

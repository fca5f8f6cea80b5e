// The stream of an answer of the Anthropic wire in our own words.
import type { JsonObject } from '@subluminal/contracts';
import type { AnswerEvent, Block, ThinkingSeal, UpstreamError, Usage } from '../shared/form.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { numberIn, objectIn, Problems, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerReader } from '../shared/wire.ts';
import { errorIn } from './errors.ts';
import { STOP_REASONS } from './read-answer.ts';
import { ANTHROPIC, readBlock } from './read-blocks.ts';
import { readAnthropicUsage } from './usage.ts';

export function anthropicReader(): AnswerReader {
  return new StreamReader();
}

const NOTHING: readonly AnswerEvent[] = [];

class StreamReader implements AnswerReader {
  private isStarted = false;
  private hasEnded = false;
  private hasStop = false;
  /** The index of the block that is open. */
  private open: number | undefined;
  private usage: Usage | undefined;

  push({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.hasEnded) return NOTHING;
    const body = parseObject(data);
    const type = body && stringIn(body, 'type');
    if (body === undefined || type === undefined) return this.fail('An event is not JSON.');
    switch (type) {
      case 'message_start':
        return this.start(objectIn(body, 'message') ?? {});
      case 'content_block_start':
      case 'content_block_delta':
      case 'content_block_stop':
        return this.block(type, body);
      case 'message_delta':
        return this.finish(body);
      case 'message_stop':
        return this.stop();
      case 'error':
        return this.error(errorIn(body));
      case 'ping':
        return [{ type: 'ping' }];
      default:
        // Unknown events may come at any time; the documentation asks clients to skip them.
        return NOTHING;
    }
  }

  end(): readonly AnswerEvent[] {
    return this.hasEnded ? NOTHING : this.fail('The stream broke off.');
  }

  private start(message: JsonObject): readonly AnswerEvent[] {
    if (this.isStarted) return this.fail('The message starts twice.');
    this.isStarted = true;
    this.usage = readAnthropicUsage(new MemberReader(message));
    const id = stringIn(message, 'id') ?? '';
    const model = stringIn(message, 'model') ?? '';
    const { usage } = this;
    return [{ type: 'start', id, model, ...(usage === undefined ? {} : { usage }) }];
  }

  private block(type: string, body: JsonObject): readonly AnswerEvent[] {
    const index = numberIn(body, 'index') ?? 0;
    if (!this.isStarted) return this.fail('A block comes before its message.');
    if (type === 'content_block_start') return this.openBlock(index, body);
    if (index !== this.open) return this.fail('An event belongs to no open block.');
    if (type === 'content_block_delta') return readDelta(objectIn(body, 'delta') ?? {});
    this.open = undefined;
    return [{ type: 'block_end' }];
  }

  private openBlock(index: number, body: JsonObject): readonly AnswerEvent[] {
    const value = objectIn(body, 'content_block');
    if (value === undefined) return this.fail('A block has no content.');
    if (this.open !== undefined) return this.fail('A block starts inside of another.');
    const problems = new Problems();
    this.open = index;
    return startEvents(readBlock(value, { path: 'content_block', problems }));
  }

  private finish(body: JsonObject): readonly AnswerEvent[] {
    if (!this.isStarted) return this.fail('The message ends before it starts.');
    const events: AnswerEvent[] = [];
    const latest = readAnthropicUsage(new MemberReader(body));
    if (latest !== undefined) {
      this.usage = latestUsage(this.usage, latest);
      events.push({ type: 'usage', usage: this.usage });
    }
    const delta = objectIn(body, 'delta') ?? {};
    const reason = stringIn(delta, 'stop_reason');
    if (reason === undefined || this.hasStop) return events;
    this.hasStop = true;
    const stop = STOP_REASONS.get(reason) ?? 'end_turn';
    const stopSequence = stringIn(delta, 'stop_sequence');
    events.push({ type: 'stop', stop, ...(stopSequence === undefined ? {} : { stopSequence }) });
    return events;
  }

  private stop(): readonly AnswerEvent[] {
    if (!this.isStarted || this.open !== undefined) return this.fail('The message ends too early.');
    this.hasEnded = true;
    return this.hasStop ? [{ type: 'end' }] : [{ type: 'stop', stop: 'end_turn' }, { type: 'end' }];
  }

  private fail(what: string): readonly AnswerEvent[] {
    return this.error(malformed(what));
  }

  private error(error: UpstreamError): readonly AnswerEvent[] {
    this.hasEnded = true;
    return [{ type: 'error', error }];
  }
}

/** A block starts empty; what the provider puts into its start comes as the first fragment. */
function startEvents(block: Block): readonly AnswerEvent[] {
  const start = (empty: Block): AnswerEvent => ({ type: 'block_start', block: empty });
  switch (block.type) {
    case 'text':
      if (block.text === '') return [start(block)];
      return [start({ ...block, text: '' }), { type: 'text', text: block.text }];
    case 'thinking':
      if (block.text === '') return [start(block)];
      return [start({ ...block, text: '' }), { type: 'thinking', text: block.text }];
    case 'tool_use':
      if (block.input === '{}') return [start({ ...block, input: '' })];
      return [start({ ...block, input: '' }), { type: 'input', text: block.input }];
    default:
      return [start(block)];
  }
}

function readDelta(delta: JsonObject): readonly AnswerEvent[] {
  switch (stringIn(delta, 'type')) {
    case 'text_delta':
      return fragment('text', stringIn(delta, 'text'));
    case 'thinking_delta':
      return fragment('thinking', stringIn(delta, 'thinking'));
    case 'input_json_delta':
      return fragment('input', stringIn(delta, 'partial_json'));
    case 'signature_delta': {
      const value = stringIn(delta, 'signature') ?? '';
      const seal: ThinkingSeal = { kind: 'signature', wire: ANTHROPIC, value };
      return value === '' ? NOTHING : [{ type: 'seal', seal }];
    }
    default:
      // Citations and the like: no other wire has them.
      return NOTHING;
  }
}

function fragment(
  type: 'text' | 'thinking' | 'input',
  text: string | undefined,
): readonly AnswerEvent[] {
  return text === undefined || text === '' ? NOTHING : [{ type, text }];
}

/** The counts at the end replace those of the start; what they leave out stays. */
export function latestUsage(start: Usage | undefined, latest: Usage): Usage {
  if (start === undefined) return latest;
  const later = (one: number, other: number): number => (other === 0 ? one : other);
  const cacheWriteTokens = later(start.cacheWriteTokens, latest.cacheWriteTokens);
  const hour = later(start.cacheWriteHourTokens, latest.cacheWriteHourTokens);
  const reasoningTokens = latest.reasoningTokens ?? start.reasoningTokens;
  return {
    inputTokens: later(start.inputTokens, latest.inputTokens),
    outputTokens: later(start.outputTokens, latest.outputTokens),
    cacheReadTokens: later(start.cacheReadTokens, latest.cacheReadTokens),
    cacheWriteTokens,
    cacheWriteHourTokens: Math.min(hour, cacheWriteTokens),
    isEstimated: false,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

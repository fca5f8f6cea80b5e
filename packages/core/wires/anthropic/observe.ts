// Watches an answer of the Anthropic wire that passes through. A fragment of content is measured, not parsed: there
// are thousands of them.
import type { JsonObject } from '@subluminal/contracts';
import { AnswerFacts } from '../shared/answer-facts.ts';
import { stringLength } from '../shared/json-length.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { objectIn, objectsIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerObserver, ObservedAnswer } from '../shared/wire.ts';
import { errorIn } from './errors.ts';
import { STOP_REASONS } from './read-answer.ts';
import { latestUsage } from './read-stream.ts';
import { readAnthropicUsage } from './usage.ts';

export function anthropicObserver(): AnswerObserver {
  return new Observer();
}

/** The content of the kinds of fragments that a model writes: a signature is not content. */
const FRAGMENTS = ['"text":"', '"partial_json":"', '"thinking":"'];
const READ: ReadonlySet<string> = new Set([
  'message',
  'message_start',
  'content_block_start',
  'message_delta',
  'message_stop',
  'error',
]);

class Observer implements AnswerObserver {
  private readonly facts = new AnswerFacts();

  get seen(): ObservedAnswer {
    return this.facts;
  }

  push({ event, data }: SseEvent): void {
    if (event === 'content_block_delta') return this.measure(data);
    if (!READ.has(event)) return;
    const body = parseObject(data);
    if (body === undefined) {
      this.facts.error ??= malformed('An event of the stream is not JSON.');
      return;
    }
    // Some servers do not name their events.
    switch (event === 'message' ? stringIn(body, 'type') : event) {
      case 'message_start':
        return this.readMessage(objectIn(body, 'message') ?? {});
      case 'content_block_start':
        this.facts.hasContent = true;
        return this.readBlock(objectIn(body, 'content_block') ?? {});
      case 'content_block_delta':
        return this.measure(data);
      case 'message_delta':
        this.readUsage(body);
        return this.readStop(objectIn(body, 'delta') ?? {});
      case 'message_stop':
        this.facts.isComplete = true;
        return;
      case 'error':
        this.facts.error ??= errorIn(body);
        return;
      default:
    }
  }

  whole(body: JsonObject): void {
    if (stringIn(body, 'type') === 'error') {
      this.facts.error ??= errorIn(body);
      return;
    }
    this.readMessage(body);
    for (const block of objectsIn(body, 'content')) this.readBlock(block);
    this.readStop(body);
    this.facts.isComplete = true;
  }

  private readMessage(message: JsonObject): void {
    this.facts.id = stringIn(message, 'id');
    this.facts.model = stringIn(message, 'model');
    this.readUsage(message);
  }

  private readBlock(block: JsonObject): void {
    const { facts } = this;
    facts.addContent((stringIn(block, 'text') ?? stringIn(block, 'thinking') ?? '').length);
    if (stringIn(block, 'type') !== 'tool_use') return;
    const input = objectIn(block, 'input') ?? {};
    // A stream has the arguments in its fragments, and an empty object here.
    if (Object.keys(input).length > 0) facts.addContent(JSON.stringify(input).length);
    facts.addToolCall(stringIn(block, 'id') ?? '', stringIn(block, 'name') ?? '');
  }

  private readUsage(body: JsonObject): void {
    const latest = readAnthropicUsage(new MemberReader(body));
    if (latest !== undefined) this.facts.usage = latestUsage(this.facts.usage, latest);
  }

  private readStop(body: JsonObject): void {
    const reason = stringIn(body, 'stop_reason');
    if (reason !== undefined) this.facts.stop = STOP_REASONS.get(reason) ?? 'end_turn';
  }

  /** A quote inside of a string is escaped, so none of the names can stand in what a model writes. */
  private measure(data: string): void {
    this.facts.hasContent = true;
    const delta = data.indexOf('"delta":');
    for (const name of FRAGMENTS) {
      const at = data.indexOf(name, delta);
      if (at === -1) continue;
      this.facts.contentLength += stringLength(data, at + name.length);
      return;
    }
  }
}

// Watches an answer of the Anthropic wire that passes through. A fragment of content is not parsed: there are
// thousands of them, and only their length counts.
import type { JsonObject } from '@subluminal/contracts';
import type { StopReason, UpstreamError, Usage } from '../shared/form.ts';
import { MemberReader } from '../shared/member-reader.ts';
import { listIn, objectIn, objectsIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import type { AnswerObserver, ObservedAnswer } from '../shared/wire.ts';
import { errorIn } from './errors.ts';
import { STOP_REASONS } from './read-answer.ts';
import { latestUsage } from './read-stream.ts';
import { readAnthropicUsage } from './usage.ts';

const TOOL_CALLS_MAX = 1_000;
/** What ends an event of a fragment: a quote and two braces. */
const DELTA_END_LENGTH = 3;

export function anthropicObserver(): AnswerObserver {
  return new Observer();
}

class Observer implements AnswerObserver {
  private id: string | undefined;
  private model: string | undefined;
  private stop: StopReason | undefined;
  private usage: Usage | undefined;
  private error: UpstreamError | undefined;
  private readonly toolCalls: { readonly id: string; readonly name: string }[] = [];
  private hasContent = false;
  private isComplete = false;
  private contentLength = 0;

  get seen(): ObservedAnswer {
    const { id, model, stop, usage, error, toolCalls } = this;
    const { hasContent, isComplete, contentLength } = this;
    return { id, model, stop, usage, error, toolCalls, hasContent, isComplete, contentLength };
  }

  push({ event, data }: SseEvent): void {
    if (event === 'content_block_delta') return this.countDelta(data);
    if (event === 'content_block_stop' || event === 'ping') return;
    const body = parseObject(data);
    if (body === undefined) return;
    // Some servers do not name their events.
    switch (event === 'message' ? stringIn(body, 'type') : event) {
      case 'message_start':
        return this.readMessage(objectIn(body, 'message') ?? {});
      case 'content_block_start':
        this.hasContent = true;
        return this.readBlock(objectIn(body, 'content_block') ?? {});
      case 'content_block_delta':
        return this.countDelta(data);
      case 'message_delta':
        this.readUsage(body);
        return this.readStop(objectIn(body, 'delta') ?? {});
      case 'message_stop':
        this.isComplete = true;
        return;
      case 'error':
        this.error = errorIn(body);
        return;
      default:
    }
  }

  whole(body: JsonObject): void {
    if (stringIn(body, 'type') === 'error') {
      this.error = errorIn(body);
      return;
    }
    this.readMessage(body);
    for (const block of objectsIn(body, 'content')) this.readBlock(block);
    this.readStop(body);
    this.hasContent = (listIn(body, 'content') ?? []).length > 0;
    this.isComplete = true;
  }

  private readMessage(message: JsonObject): void {
    this.id = stringIn(message, 'id');
    this.model = stringIn(message, 'model');
    this.readUsage(message);
  }

  private readBlock(block: JsonObject): void {
    const id = stringIn(block, 'id');
    const name = stringIn(block, 'name');
    const input = objectIn(block, 'input');
    const text = stringIn(block, 'text') ?? stringIn(block, 'thinking') ?? '';
    this.contentLength += text.length;
    if (stringIn(block, 'type') !== 'tool_use' || id === undefined || name === undefined) return;
    // A stream has the arguments in its fragments, and an empty object here.
    if (input !== undefined && Object.keys(input).length > 0) {
      this.contentLength += JSON.stringify(input).length;
    }
    if (this.toolCalls.length < TOOL_CALLS_MAX) this.toolCalls.push({ id, name });
  }

  private readUsage(body: JsonObject): void {
    const latest = readAnthropicUsage(new MemberReader(body));
    if (latest !== undefined) this.usage = latestUsage(this.usage, latest);
  }

  private readStop(body: JsonObject): void {
    const reason = stringIn(body, 'stop_reason');
    if (reason !== undefined) this.stop = STOP_REASONS.get(reason) ?? 'end_turn';
  }

  /** `…"delta":{"type":"text_delta","text":"…"}}`: the length of the last string, escapes included. */
  private countDelta(data: string): void {
    this.hasContent = true;
    const type = data.indexOf('_delta"', data.indexOf('"delta"'));
    if (type === -1 || data.endsWith('signature', type)) return;
    const start = data.indexOf(':"', type + 1);
    if (start === -1) return;
    this.contentLength += Math.max(0, data.trimEnd().length - DELTA_END_LENGTH - start - 2);
  }
}

// Reads the stream of a chat answer.
import type { JsonObject } from '@subluminal/contracts';
import { BlockLanes } from '../shared/block-lanes.ts';
import type { AnswerEvent, Block, UpstreamError, Usage } from '../shared/form.ts';
import { errorFrom } from '../shared/openai-errors.ts';
import { numberIn, objectIn, objectsIn, parseObject, stringIn } from '../shared/read-members.ts';
import type { SseEvent } from '../shared/sse.ts';
import { malformed } from '../shared/upstream-errors.ts';
import type { AnswerReader } from '../shared/wire.ts';
import { JsonEnd } from './json-end.ts';
import { fallbackCallId, readStopReason } from './read-answer.ts';
import { readChatUsage } from './usage.ts';

interface StreamedCall {
  readonly key: string;
  readonly id: string;
  readonly end: JsonEnd;
}

type Said = 'text' | 'thinking' | 'refusal';

export class ChatAnswerReader implements AnswerReader {
  readonly #lanes = new BlockLanes();
  /** The calls by their index, with the end of their arguments. */
  readonly #calls = new Map<number, StreamedCall>();
  readonly #seen: Block['type'][] = [];
  #said: { readonly kind: Said; readonly key: string } | undefined;
  #id = '';
  #isStarted = false;
  #isEnded = false;
  #reason: string | undefined;
  #usage: Usage | undefined;

  push({ data }: SseEvent): readonly AnswerEvent[] {
    if (this.#isEnded) return [];
    if (data.trim() === '[DONE]') return this.#finish();
    const chunk = parseObject(data);
    if (chunk === undefined) return this.#fail(malformed('A chunk of the stream is not JSON.'));
    const error = chunk['error'];
    if (error !== undefined && error !== null) return this.#fail(errorFrom(error, 502));
    const events = [...this.#start(chunk)];
    const usage = objectIn(chunk, 'usage');
    if (usage !== undefined) this.#usage = readChatUsage(usage);
    for (const choice of objectsIn(chunk, 'choices')) {
      // Other choices belong to other answers, which nobody asked for.
      if ((numberIn(choice, 'index') ?? 0) !== 0) continue;
      events.push(...this.#delta(objectIn(choice, 'delta') ?? {}));
      this.#reason = stringIn(choice, 'finish_reason') ?? this.#reason;
    }
    if (!this.#lanes.isOverflowing) return events;
    return [...events, ...this.#fail(malformed('The stream mixes more than can be held back.'))];
  }

  end(): readonly AnswerEvent[] {
    if (this.#isEnded) return [];
    // Some servers close the connection instead of saying `[DONE]`.
    if (this.#reason !== undefined) return this.#finish();
    return this.#fail(malformed('The stream broke off before the answer was complete.'));
  }

  #start(chunk: JsonObject): readonly AnswerEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    this.#id = stringIn(chunk, 'id') ?? '';
    return [{ type: 'start', id: this.#id, model: stringIn(chunk, 'model') ?? '' }];
  }

  #delta(delta: JsonObject): readonly AnswerEvent[] {
    const thinking = stringIn(delta, 'reasoning_content') ?? stringIn(delta, 'reasoning') ?? '';
    return [
      ...this.#say('thinking', thinking),
      ...this.#say('text', stringIn(delta, 'content') ?? ''),
      ...this.#say('refusal', stringIn(delta, 'refusal') ?? ''),
      ...objectsIn(delta, 'tool_calls').flatMap((call) => this.#call(call)),
    ];
  }

  #say(kind: Said, text: string): readonly AnswerEvent[] {
    if (text === '') return [];
    const event: AnswerEvent = { type: kind === 'thinking' ? 'thinking' : 'text', text };
    if (this.#said?.kind === kind) return this.#lanes.add(this.#said.key, event);
    const events = [...this.#endSaid()];
    const key = `${kind} ${this.#seen.length}`;
    this.#said = { kind, key };
    return [
      ...events,
      ...this.#open(key, { type: kind, text: '' }),
      ...this.#lanes.add(key, event),
    ];
  }

  #endSaid(): readonly AnswerEvent[] {
    const said = this.#said;
    this.#said = undefined;
    return said === undefined ? [] : this.#lanes.close(said.key);
  }

  #open(key: string, block: Block): readonly AnswerEvent[] {
    this.#seen.push(block.type);
    return [...this.#endWholeCalls(), ...this.#lanes.open(key, block)];
  }

  /** The wire doesn't say where a call ends. When another block waits, arguments that are whole tell it. */
  #endWholeCalls(): readonly AnswerEvent[] {
    return [...this.#calls.values()].flatMap(({ key, end }) =>
      end.isWhole ? this.#lanes.close(key) : [],
    );
  }

  #call(call: JsonObject): readonly AnswerEvent[] {
    const custom = objectIn(call, 'custom');
    const called = custom ?? objectIn(call, 'function') ?? {};
    const index = numberIn(call, 'index') ?? this.#calls.size;
    const id = stringIn(call, 'id') ?? '';
    const name = stringIn(called, 'name') ?? '';
    const events: AnswerEvent[] = [];
    let open = this.#calls.get(index);
    // Some servers give every call the index 0: another id with a name is another call.
    const isOther = open !== undefined && id !== '' && name !== '' && id !== open.id;
    if (open === undefined || isOther) {
      events.push(...this.#endSaid(), ...(open === undefined ? [] : this.#lanes.close(open.key)));
      const key = `call ${this.#seen.length}`;
      open = {
        key,
        id: id === '' ? fallbackCallId(this.#id, this.#seen.length) : id,
        end: new JsonEnd(),
      };
      this.#calls.set(index, open);
      events.push(
        ...this.#open(key, {
          type: 'tool_use',
          id: open.id,
          name,
          input: '',
          ...(custom === undefined ? {} : { isCustom: true }),
        }),
      );
    }
    const text = stringIn(called, custom === undefined ? 'arguments' : 'input') ?? '';
    if (text === '') return events;
    events.push(...this.#lanes.add(open.key, { type: 'input', text }));
    if (custom === undefined) open.end.push(text);
    return this.#lanes.isWaiting ? [...events, ...this.#endWholeCalls()] : events;
  }

  #finish(): readonly AnswerEvent[] {
    if (!this.#isStarted) return this.#fail(malformed('The stream has no answer.'));
    this.#isEnded = true;
    const usage = this.#usage;
    return [
      ...this.#lanes.closeAll(),
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'stop', stop: readStopReason(this.#reason, new Set(this.#seen)) },
      { type: 'end' },
    ];
  }

  #fail(error: UpstreamError): readonly AnswerEvent[] {
    this.#isEnded = true;
    return [{ type: 'error', error }];
  }
}

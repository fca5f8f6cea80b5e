// Messages of the server on their way in, from however many streams: one large message at a time, and all of them wait
// while the governor holds.
import type { AnswerBody, UpstreamFault } from '../../../os/upstream/index.ts';
import type { Incoming, TransportHandlers } from '../types.ts';
import { type LargeOutcome, MessageGatherer, type MessageLimits } from './gather-message.ts';
import { SseFrames, type SseHandlers } from './sse-frames.ts';

export interface BodyOptions {
  /** The JSON of the id of the request that the body answers. */
  readonly about?: string | undefined;
  /** Sees each whole message first; undefined keeps it back. */
  readonly take: (message: Uint8Array) => Uint8Array | undefined;
  /** A large message is over, which `take` did not see. */
  readonly large?: (how: LargeOutcome, id: string | undefined) => void;
  /** For a stream of events; without it, the body is one message. */
  readonly events?: SseHandlers;
}

export class Inbox {
  readonly #limits: MessageLimits;
  #on: TransportHandlers | undefined;
  #isStopped = false;
  #isClosed = false;
  #holds = 0;
  /** What is being read, with what ends the wait for it. */
  readonly #bodies = new Map<AnswerBody, () => void>();
  /** Bodies that wait for the large message of another one. */
  readonly #waiting = new Map<AnswerBody, () => void>();
  #isLarge = false;

  constructor(limits: MessageLimits) {
    this.#limits = limits;
  }

  open(on: TransportHandlers): void {
    this.#on = on;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Lets go of all bodies, and of those that are still to come. */
  close(): void {
    this.#isStopped = true;
    this.#isClosed = true;
    for (const [body, over] of this.#bodies) {
      body.destroy();
      over();
    }
    this.#bodies.clear();
  }

  hold(): void {
    this.#holds++;
    for (const body of this.#bodies.keys()) this.#pace(body);
  }

  release(): void {
    if (this.#holds === 0) throw new Error('released more often than held');
    this.#holds--;
    for (const body of this.#bodies.keys()) this.#pace(body);
  }

  /** A message that did not come by a body, such as the answer to a request that failed. */
  deliver(bytes: Uint8Array): void {
    this.#tell([{ kind: 'message', bytes }]);
  }

  /** Reads a body to its end; the fault that it ended with. */
  read(body: AnswerBody, options: BodyOptions): Promise<UpstreamFault | undefined> {
    return new Promise((resolve) => {
      if (this.#isClosed) {
        body.destroy();
        return resolve(undefined);
      }
      const reading = this.#reading(body, options);
      this.#bodies.set(body, () => resolve(undefined));
      body.read({
        onPart: (bytes) => reading.feed(bytes),
        onEnd: (fault) => {
          this.#bodies.delete(body);
          reading.end(fault);
          resolve(fault);
        },
      });
      if (this.#holds > 0) this.#pace(body);
    });
  }

  #reading(body: AnswerBody, { about, take, large, events }: BodyOptions) {
    let out: Incoming[] = [];
    const rest: Uint8Array[] = [];
    let ended: { readonly fault: UpstreamFault | undefined } | undefined;
    const stream = about === undefined ? undefined : { about };
    const gather = new MessageGatherer(this.#limits, {
      emit: (incoming) => {
        if (incoming.kind === 'message') {
          const bytes = take(incoming.bytes);
          if (bytes !== undefined) out.push({ kind: 'message', bytes, ...stream });
        } else out.push(incoming.kind === 'head' ? { ...incoming, ...stream } : incoming);
      },
      beginLarge: () => this.#beginLarge(),
      endLarge: (how, id) => {
        large?.(how, id);
        this.#endLarge();
      },
    });
    const frames =
      events === undefined
        ? { feed: (chunk: Uint8Array) => (gather.add(chunk) ? chunk.length : 0), end() {} }
        : new SseFrames(gather, events);
    const flush = (): void => {
      if (out.length === 0) return;
      const messages = out;
      out = [];
      this.#tell(messages);
    };
    const finish = (fault: UpstreamFault | undefined): void => {
      frames.end();
      if (events === undefined && fault === undefined) gather.end();
      else gather.cut();
      flush();
    };
    const feed = (chunk: Uint8Array): void => {
      if (rest.length > 0) return void rest.push(chunk);
      const used = frames.feed(chunk);
      flush();
      if (used === chunk.length) return;
      rest.push(chunk.subarray(used));
      this.#waiting.set(body, () => {
        const chunks = rest.splice(0);
        for (const one of chunks) feed(one);
        if (rest.length === 0 && ended !== undefined) finish(ended.fault);
      });
      this.#pace(body);
    };
    const end = (fault: UpstreamFault | undefined): void => {
      if (rest.length === 0) finish(fault);
      else ended = { fault };
    };
    return { feed, end };
  }

  #beginLarge(): boolean {
    if (this.#isLarge) return false;
    this.#isLarge = true;
    return true;
  }

  /** The next one that waits goes on, when what is being read has been handed over. */
  #endLarge(): void {
    this.#isLarge = false;
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [body, goOn] = next;
    queueMicrotask(() => {
      if (this.#isLarge || !this.#waiting.delete(body)) return;
      goOn();
      this.#pace(body);
    });
  }

  #pace(body: AnswerBody): void {
    const mustWait = this.#holds > 0 || this.#waiting.has(body);
    if (mustWait && !body.isPaused) body.pause();
    else if (!mustWait && body.isPaused) body.resume();
  }

  #tell(messages: readonly Incoming[]): void {
    if (!this.#isStopped) this.#on?.incoming(messages);
  }
}

// A turn of this process: no socket in between, and the answer in memory.
import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http';
import { Readable, Writable } from 'node:stream';
import type { TurnEngine, TurnRoute } from './engine.ts';

export interface WholeAnswer {
  /** 0 when the turn was given up before it had an answer. */
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

interface OwnRequest {
  readonly headers: IncomingHttpHeaders;
  /** Not of a stream. Within the limits of the engine, as its answer is. */
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** Never rejects. */
export async function answerWhole(
  engine: TurnEngine,
  { headers, body, signal }: OwnRequest,
  route: TurnRoute,
): Promise<WholeAnswer> {
  const response = new MemoryAnswer();
  const request = Object.assign(Readable.from([body]), { headers });
  const giveUp = (): void => void response.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  await engine.handle(request, response, route);
  signal.removeEventListener('abort', giveUp);
  return response.whole();
}

class MemoryAnswer extends Writable {
  readonly #pieces: Buffer[] = [];
  #status = 0;
  #headers: { readonly [name: string]: string } = {};

  writeHead(status: number, list: OutgoingHttpHeader[]): void {
    this.#status = status;
    const names = list.filter((_, at) => at % 2 === 0);
    const named = names.map((name, at) => [String(name), String(list[at * 2 + 1])] as const);
    this.#headers = Object.fromEntries(named);
  }

  flushHeaders(): void {}

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.#pieces.push(piece);
    done();
  }

  whole(): WholeAnswer {
    return { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces) };
  }
}

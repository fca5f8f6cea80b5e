// The client's side of a turn: what went out, and whether anyone still listens.
import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { CallAbort } from '@subluminal/plane/upstream';

/** Where an answer is written: the response of a server, or memory of this process. */
export interface AnswerStream extends Writable {
  /** Names and values in turn. */
  writeHead(status: number, headers: OutgoingHttpHeader[]): unknown;
  flushHeaders(): void;
}

export class ClientAnswer {
  status: number | undefined;
  bytesOut = 0;
  /** When the first byte went out. */
  firstByteMs: number | undefined;
  /** Aborted when the client goes before it has everything. */
  readonly gone = new ClientGone();
  private readonly response: AnswerStream;
  private readonly nowMs: () => number;

  constructor(response: AnswerStream, nowMs: () => number) {
    this.response = response;
    this.nowMs = nowMs;
    response.on('error', () => this.gone.abort());
    response.on('close', () => {
      if (!response.writableFinished) this.gone.abort();
    });
  }

  get isGone(): boolean {
    return this.gone.aborted;
  }

  /** Whether the status is out, so that nothing can be said by it any more. */
  get isOpen(): boolean {
    return this.status !== undefined;
  }

  /** What a later layer of headers says holds. */
  open(status: number, ...layers: readonly OutgoingHttpHeaders[]): void {
    if (!this.isGone) this.response.writeHead(status, headerList(layers));
    this.status = status;
  }

  /** An answer that is whole, with its length. */
  answer(
    body: Uint8Array | string,
    status: number,
    ...layers: readonly OutgoingHttpHeaders[]
  ): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    this.open(status, ...layers, { 'content-length': bytes.length });
    this.end(bytes);
  }

  /** False when the client is slower than the upstream: wait for `drained`. */
  write(bytes: Uint8Array | string): boolean {
    if (this.isGone) return true;
    this.count(bytes);
    return this.response.write(bytes);
  }

  drained(go: () => void): void {
    this.response.once('drain', go);
  }

  /** What is written from now on goes out with the end, in one packet where it fits. */
  holdToEnd(): void {
    this.response.cork();
  }

  end(bytes: Uint8Array | string): void {
    if (this.isGone) return;
    this.count(bytes);
    this.response.end(bytes);
  }

  /** When nothing else can be said. */
  destroy(): void {
    this.response.destroy();
  }

  /** Sends `text` again and again, until the returned function is called. */
  keepAlive(text: string, everyMs: number): () => void {
    if (!this.isGone) this.response.flushHeaders();
    const timer = setInterval(() => this.write(text), everyMs);
    return () => clearInterval(timer);
  }

  private count(bytes: Uint8Array | string): void {
    this.firstByteMs ??= this.nowMs();
    this.bytesOut += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
  }
}

/** Names and values in turn: to merge objects, and to take the result apart again, costs more. */
function headerList(layers: readonly OutgoingHttpHeaders[]): OutgoingHttpHeader[] {
  const list: OutgoingHttpHeader[] = [];
  const named = new Set<string>();
  for (const layer of layers.toReversed()) {
    for (const name of Object.keys(layer)) {
      const value = layer[name];
      if (value === undefined || named.has(name)) continue;
      named.add(name);
      list.push(name, value);
    }
  }
  return list;
}

class ClientGone extends CallAbort {
  private controller: AbortController | undefined;

  /** For those who can do with nothing else. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.aborted) this.controller.abort();
    return this.controller.signal;
  }

  override abort(): void {
    this.controller?.abort();
    super.abort();
  }
}

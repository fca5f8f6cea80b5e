// The client's side of a turn: what went out, and whether anyone still listens.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

export class ClientAnswer {
  status: number | undefined;
  bytesOut = 0;
  /** When the first byte went out. */
  firstByteMs: number | undefined;
  /** Aborted when the client goes before it has everything. */
  readonly signal: AbortSignal;
  private readonly response: ServerResponse;
  private readonly nowMs: () => number;

  constructor(response: ServerResponse, nowMs: () => number) {
    this.response = response;
    this.nowMs = nowMs;
    const gone = new AbortController();
    this.signal = gone.signal;
    response.on('error', () => gone.abort());
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
    });
  }

  get isGone(): boolean {
    return this.signal.aborted;
  }

  /** Whether the status is out, so that nothing can be said by it any more. */
  get isOpen(): boolean {
    return this.status !== undefined;
  }

  open(status: number, headers: OutgoingHttpHeaders): void {
    if (!this.isGone) this.response.writeHead(status, headers);
    this.status = status;
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

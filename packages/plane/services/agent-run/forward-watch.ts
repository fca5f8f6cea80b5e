// Stands before a server and says when a call leaves for it: after every gate, and after the person who was asked.
import type { Holdable, ReadMessage, Transport, TransportHandlers } from '../transports/types.ts';
import { RPC_ERRORS, rpcError } from './rpc-text.ts';

const CALL_START = /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"method":"tools\/call"/;
const START_LENGTH = 64;

/** `leaving` says why a call must not leave. */
export class ForwardWatch implements Transport {
  readonly #server: Transport;
  readonly #leaving: (id: number) => string | undefined;
  #on: TransportHandlers | undefined;

  constructor(server: Transport, leaving: (id: number) => string | undefined) {
    this.#server = server;
    this.#leaving = leaving;
  }

  read(on: TransportHandlers): void {
    this.#on = on;
    this.#server.read(on);
  }

  write(message: Uint8Array, read?: ReadMessage): void {
    const start = Buffer.from(message.subarray(0, START_LENGTH)).toString('latin1');
    const [, id] = CALL_START.exec(start) ?? [];
    const why = id === undefined ? undefined : this.#leaving(Number(id));
    if (why === undefined) return this.#server.write(message, read);
    // In the place of the server, which has not seen it.
    const bytes = Buffer.from(rpcError(Number(id), RPC_ERRORS.internal, why));
    queueMicrotask(() => this.#on?.incoming([{ kind: 'message', bytes }]));
  }

  stop(): void {
    this.#on = undefined;
    this.#server.stop();
  }

  writePart(bytes: Uint8Array, read?: ReadMessage): void {
    this.#server.writePart(bytes, read);
  }

  endParts(): void {
    this.#server.endParts();
  }

  abortParts(): void {
    this.#server.abortParts();
  }

  hold(): void {
    this.#server.hold();
  }

  release(): void {
    this.#server.release();
  }

  holds(...sources: readonly Holdable[]): void {
    this.#server.holds(...sources);
  }

  end(): void {
    this.#server.end();
  }

  close(timeoutMs: number): Promise<boolean> {
    return this.#server.close(timeoutMs);
  }
}

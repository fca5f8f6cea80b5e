// Requests to the daemon itself, one answer per line.
import type { Peer, Talk } from './peer.ts';
import type { IngestLedger } from './ports.ts';
import {
  type LedgerStatus,
  type NumberedLine,
  type Request,
  readRequest,
  type TakenCounts,
} from './protocol.ts';

/** What can be asked of the daemon. */
export interface Controls {
  readonly ledger: IngestLedger;
  sync(): Promise<void>;
  status(): Promise<LedgerStatus>;
  /** It no longer ends by itself. */
  stay(): void;
  /** Ends the daemon; the connection of the one who asked is kept until then. */
  stop(asker: Peer): void;
  take(lines: readonly NumberedLine[]): Promise<TakenCounts>;
}

export class Controller implements Talk {
  readonly #peer: Peer;
  readonly #controls: Controls;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Of the requests that wait. */
  #length = 0;
  #hasEnded = false;
  #isStopping = false;

  constructor(peer: Peer, controls: Controls) {
    this.#peer = peer;
    this.#controls = controls;
  }

  line(text: string | undefined): void {
    this.#waiting += 1;
    this.#length += text?.length ?? 0;
    this.#peer.holds(this.#length);
    // One after the other; what is not read yet waits with the one who asks.
    this.#peer.pause();
    this.#last = this.#last.then(() => this.#answer(text));
  }

  ended(): void {
    this.#hasEnded = true;
    this.#letGo();
  }

  closed(): void {
    this.#hasEnded = true;
  }

  async #answer(text: string | undefined): Promise<void> {
    const request = text === undefined ? undefined : readRequest(text);
    const answer =
      request === undefined
        ? { ok: false, code: 'SUB_USAGE', error: 'the request is not one that is known' }
        : await this.#do(request).catch((cause: unknown) => this.#refusal(cause));
    this.#peer.write(`${JSON.stringify(answer)}\n`);
    this.#waiting -= 1;
    this.#length -= text?.length ?? 0;
    this.#peer.holds(this.#length);
    if (this.#waiting === 0) this.#peer.resume();
    this.#letGo();
  }

  async #do(request: Request): Promise<object> {
    const controls = this.#controls;
    const { ledger } = controls;
    switch (request.do) {
      case 'sync':
        await controls.sync();
        return { ok: true };
      case 'status':
        return { ok: true, status: await controls.status() };
      case 'stay':
        controls.stay();
        return { ok: true };
      case 'stop':
        this.#isStopping = true;
        controls.stop(this.#peer);
        return { ok: true };
      case 'prune': {
        const wish = request.request;
        const result = await (request.dry_run === true
          ? ledger.countStale(wish)
          : ledger.prune(wish));
        return { ok: true, result };
      }
      case 'ingest': {
        const result = await controls.take(request.lines);
        if (request.durable === true) await ledger.seal();
        return { ok: true, result };
      }
    }
  }

  #refusal(cause: unknown): object {
    const judged = this.#controls.ledger.judge(cause);
    const code = judged.kind === 'defect' ? 'SUB_INTERNAL' : judged.code;
    return { ok: false, code, error: judged.message };
  }

  #letGo(): void {
    if (this.#hasEnded && this.#waiting === 0 && !this.#isStopping) this.#peer.end();
  }
}

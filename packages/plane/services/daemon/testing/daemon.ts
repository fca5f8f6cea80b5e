// A daemon in this process, on a ledger and a socket in a folder of their own.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import type { Ledger } from '../../../stores/ledger/index.ts';
import { LedgerHome } from '../../../stores/ledger/testing/temp-ledger.ts';
import { createLedgerClient, type NumberedLine } from '../../ingest/index.ts';
import { type IngestOptions, type IngestServer, openIngest } from '../../ingest/server.ts';

interface DaemonWish extends Partial<IngestOptions> {
  readonly home?: LedgerHome;
  /** Changes how the socket puts lines into the ledger. */
  readonly wrap?: (ingest: Ledger['ingest']) => Ledger['ingest'];
}

export interface TestDaemon {
  readonly home: LedgerHome;
  readonly ledger: Ledger;
  readonly server: IngestServer;
  readonly socketPath: string;
  readonly spool: string;
  readonly client: ReturnType<typeof createLedgerClient>;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export async function startDaemon(wish: DaemonWish = {}): Promise<TestDaemon> {
  const { home = new LedgerHome(), wrap = (ingest) => ingest, ...rest } = wish;
  const socketPath = join(home.folder, 'l.sock');
  const spool = join(home.folder, 'spool');
  mkdirSync(spool, { recursive: true });
  const ledger = await home.open();
  const warnings: string[] = [];
  const server = await openIngest({
    socketPath,
    ledger: {
      store: ledger.store,
      ingest: wrap((lines) => ledger.ingest(lines)),
      seal: () => ledger.seal(),
      prune: (request) => ledger.prune(request),
    },
    spool,
    version: '1.2.3',
    warn: (message) => warnings.push(message),
    onStop: () => undefined,
    onFinal: () => undefined,
    ...rest,
  });
  if (isFailure(server)) throw new Error(server.message);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close(5_000, () => ledger.close());
    return closed;
  };
  onTestFinished(close);
  const client = createLedgerClient({ socketPath });
  return { home, ledger, server, socketPath, spool, client, warnings, close };
}

/** A shim's connection, in raw text. */
export class Wire {
  readonly socket: Socket;
  /** Whole lines so far. */
  readonly lines: string[] = [];
  #rest = '';
  #waiting: (() => void)[] = [];

  constructor(socketPath: string, hello: object) {
    this.socket = connect({ path: socketPath, allowHalfOpen: true });
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.socket.write(`${JSON.stringify(hello)}\n`);
    onTestFinished(() => void this.socket.destroy());
  }

  static ingest(socketPath: string, producer: string): Wire {
    return new Wire(socketPath, { hello: 'subluminal.ingest.v1', producer });
  }

  send(lines: readonly NumberedLine[]): void {
    this.socket.write(lines.map(({ seq, line }) => `${seq} ${line}\n`).join(''));
  }

  /** Waits until the lines fit, or nothing more can come. */
  async until(fits: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    while (!fits(this.lines) && !this.socket.closed) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    return this.lines;
  }

  /** Waits for the answer that so many lines are committed. */
  async acked(count: number): Promise<void> {
    const ack = `{"ack":${count}}`;
    const lines = await this.until((all) => all.at(-1) === ack);
    if (lines.at(-1) !== ack) throw new Error(`only ${lines.at(-1) ?? 'nothing'}`);
  }

  async ended(): Promise<void> {
    if (!this.socket.readableEnded && !this.socket.closed) await once(this.socket, 'end');
  }
}

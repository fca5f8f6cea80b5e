// Hubs and clients on real sockets, all closed when the test is over; for tests only.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import { sha256 } from '../../../os/crypto/index.ts';
import { createHubClient, type HubClient, type HubClientOptions } from '../client/client.ts';
import { type OpenHubOptions, openHub, type RunningHub } from '../open.ts';
import { RUN, summaryOf } from './scenario.ts';

const RUNNER = fileURLToPath(new URL('../../../../../tools/run.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./hub-process.ts', import.meta.url));
export const TOKEN = 'a-token-that-is-long-enough-for-a-hub';

export class Crew {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-hub-'));
  readonly socketPath = join(this.folder, 'hub.sock');
  readonly #ends: (() => unknown)[] = [];

  /** Runs when the test is over, the last first. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  async hub(options: Partial<OpenHubOptions> = {}): Promise<RunningHub> {
    const hub = await openHub({
      runId: RUN,
      nowMs: () => Math.floor(performance.now()),
      sha256,
      listen: { kind: 'unix', path: this.socketPath },
      ...options,
    });
    if (isFailure(hub)) throw new Error(hub.message);
    this.atEnd(() => hub.close());
    return hub;
  }

  client(options: Partial<HubClientOptions> = {}): HubClient {
    const client = createHubClient({
      endpoint: `unix:${this.socketPath}`,
      runId: RUN,
      shimId: 'shim',
      serverId: 'server',
      summary: () => summaryOf(0),
      ...options,
    });
    if (isFailure(client)) throw new Error(client.message);
    this.atEnd(() => client.close());
    return client;
  }

  /** A hub in a process of its own, on the same socket. */
  async process(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [RUNNER, PROGRAM, this.socketPath], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.atEnd(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  }

  /** What Prometheus gets. */
  async metrics(): Promise<string> {
    const asked = request({ agent: false, socketPath: this.socketPath, path: '/metrics' }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
    return text;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

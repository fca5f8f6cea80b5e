// Hubs for the contract tests: the real one in this process, and some that misbehave.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { isFailure } from '@subluminal/contracts';
import { openHub, type RunningHub } from '@subluminal/plane/hub';
import { onTestFinished } from 'vitest';

const RUN_ID = 'run-1';

export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-hub-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'hub.sock');
}

export interface AskedFrame {
  readonly to: string;
  readonly connection: Duplex;
  readonly answer: (body: object, status?: number) => void;
}

/** A hub that answers as the listener likes; gives its address. */
export function listenAs(listener: (asked: AskedFrame) => void, path = socketPath()): string {
  const server = createServer().listen(path);
  const connections = new Set<Duplex>();
  server.on('upgrade', (_request, connection: Duplex) => {
    connections.add(connection);
    connection.on('error', () => {});
    connection.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: subluminal-hub\r\n\r\n',
    );
    createInterface({ input: connection }).on('line', (line) => {
      const { id, to } = JSON.parse(line) as { readonly id?: number; readonly to: string };
      const answer = (body: object, status = 200): void => {
        connection.write(`${JSON.stringify({ id, status, body })}\n`);
      };
      listener({ to, connection, answer });
    });
  });
  onTestFinished(() => {
    for (const connection of connections) connection.destroy();
    server.close();
  });
  return `unix:${path}`;
}

/** All is well, and there is nothing to say. */
export function sayWell({ to, answer }: AskedFrame): void {
  answer(to === 'health' ? { status: 'ok' } : { shutdown: false });
}

export interface RealHub {
  readonly hub: RunningHub;
  /** What a shim has to be told to be of its run. */
  readonly env: { readonly [name: string]: string };
  /** Resolves when the hub has heard of a shim. */
  readonly joined: () => Promise<void>;
  readonly metrics: () => Promise<string>;
}

/** The hub of run `run-1`, on a socket. */
export async function realHub(path = socketPath()): Promise<RealHub> {
  const hub = await openHub({
    runId: RUN_ID,
    nowMs: () => Math.floor(performance.now()),
    sha256: (data) => createHash('sha256').update(data).digest('hex'),
    listen: { kind: 'unix', path },
  });
  if (isFailure(hub)) throw new Error(hub.message);
  onTestFinished(() => hub.close());
  return {
    hub,
    env: { SUB_RUN_ID: RUN_ID, SUB_GOVERNANCE_ENDPOINT: hub.endpoint },
    joined: async () => {
      while (hub.shims.list().length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    metrics: () => fetchMetrics(path),
  };
}

function fetchMetrics(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: path, path: '/metrics', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve(text));
    });
    asked.once('error', reject);
    asked.end();
  });
}

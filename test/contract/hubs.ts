// Hubs for the contract tests: the real one in this process, and some that misbehave.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { openHub, type RunningHub } from '@subluminal/plane/hub';
import { onTestFinished } from 'vitest';

const RUN_ID = 'run-1';

export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-hub-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'hub.sock');
}

/** A hub that answers as the listener likes; gives its address. */
export function listenAs(listener: RequestListener, path = socketPath()): string {
  const server = createServer(listener).listen(path);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `unix:${path}`;
}

/** All is well, and there is nothing to say. */
export function sayWell(asked: IncomingMessage, response: ServerResponse): void {
  asked.resume();
  response.setHeader('content-type', 'application/json');
  response.end(asked.url === '/healthz' ? '{"status":"ok"}' : '{"shutdown":false}');
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

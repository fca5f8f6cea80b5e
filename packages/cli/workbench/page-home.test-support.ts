// A home with a ledger, and the API with its workbench in front of both, for tests only.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_ENDPOINTS, type ApiEndpoint, check, isFailure } from '@subluminal/contracts';
import { findLedger } from '@subluminal/plane/daemon';
import { expect, onTestFinished } from 'vitest';
import { type ApiClient, liveLedger } from '../../plane/services/api/testing/live-ledger.ts';
import { openWorkbench } from './open-workbench.ts';

export type LiveLedger = Awaited<ReturnType<typeof liveLedger>>;

export interface PageHome {
  readonly folder: string;
  readonly home: string;
  readonly live: LiveLedger;
  readonly get: (
    name: keyof typeof API_ENDPOINTS,
    path: string,
    status?: number,
  ) => Promise<unknown>;
  readonly post: (
    name: keyof typeof API_ENDPOINTS,
    path: string,
    asked: { readonly body?: object; readonly status?: number },
  ) => Promise<unknown>;
}

export async function pageHome(): Promise<PageHome> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-page-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = join(folder, 'sub');
  mkdirSync(home, { mode: 0o700 });
  const env = { PATH: process.env['PATH'], HOME: folder, SUB_HOME: home };
  const found = await findLedger({ env, cwd: folder });
  if (isFailure(found)) throw new Error(found.message);
  const live = await liveLedger();
  const { ledger } = live;
  const log = (message: string) => void live.warnings.push(message);
  const closing = new AbortController().signal;
  const host = { home: found, env, ledger, sync: async () => undefined, log, closing };
  // Once, as the daemon does.
  const opened = openWorkbench(host);
  const client = await live.open({ nowMs: Date.now, workbench: () => opened });
  return { folder, home, live, get: getter(client), post: poster(client) };
}

/** Every answer must have the shape of its contract. */
function checked(name: keyof typeof API_ENDPOINTS, answer: unknown, status: number): unknown {
  const endpoint: ApiEndpoint = API_ENDPOINTS[name];
  if (status === 200) expect(check(endpoint.answer, answer), name).toEqual([]);
  return answer;
}

function getter(client: ApiClient): PageHome['get'] {
  return async (name, path, status = 200) =>
    checked(name, await client.json(`/api/v1/${path}`, status), status);
}

function poster(client: ApiClient): PageHome['post'] {
  return async (name, path, { body = {}, status = 200 }) => {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify(body) };
    return checked(name, await client.json(`/api/v1/${path}`, status, sent), status);
  };
}

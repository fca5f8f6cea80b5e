// A gateway that runs in the test, with a real store, real files and upstreams that follow a script.
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure, isObject } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import { CONFIG_ENV, CONFIG_TEXTS, configFolder } from '../../config/testing/config-folder.ts';
import { bodyOf, loopback } from '../../turns/testing/loopback.ts';
import { startGateway } from '../start-gateway.ts';

/** One request that an upstream has got. */
export interface UpstreamTurn {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestGateway {
  readonly url: string;
  readonly dir: string;
  readonly home: string;
  readonly log: readonly string[];
  /** The key of the first admin, whose user id is `ada`. */
  readonly key: string;
  readonly upstream: readonly UpstreamTurn[];
  ask(path: string, options?: AskedOptions): Promise<Response>;
  turn(body: object, options?: AskedOptions): Promise<Response>;
  close(): Promise<void>;
}

export interface AskedOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: object;
  readonly signal?: AbortSignal;
}

export interface TestGatewayOptions {
  readonly files?: { readonly [file: string]: string };
  readonly answer?: (response: ServerResponse, turn: UpstreamTurn) => unknown;
  readonly database?: string;
  /** The folder of the built page. */
  readonly pages?: string;
}

export const USAGE = { input_tokens: 1_000, output_tokens: 100 };

export function anthropicAnswer(text: string) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE,
  };
}

export async function runningGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const turns: UpstreamTurn[] = [];
  const { url: upstream } = await loopback(async (request, response) => {
    const turn = {
      path: request.url ?? '',
      headers: request.headers,
      body: (await bodyOf(request)).toString('utf8'),
    };
    turns.push(turn);
    if (options.answer !== undefined) return options.answer(response, turn);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(anthropicAnswer('Hello.')));
  });
  const dir = configFolder({
    'pools.yaml': poolsOf(upstream),
    'webhooks.yaml': 'webhooks: []\n',
    ...options.files,
  });
  const home = mkdtempSync(join(tmpdir(), 'sub-gateway-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const log: string[] = [];
  const started = await startGateway({
    dir,
    home,
    places: { env: CONFIG_ENV, home, userHome: home, settings: {} },
    version: '0.1.0',
    listen: { host: '127.0.0.1', port: 0 },
    log: (line) => log.push(line),
    ...(options.database !== undefined && { database: options.database }),
    ...(options.pages !== undefined && { pages: options.pages }),
  });
  if (isFailure(started)) throw new Error(started.message);
  if (started.kind === 'invalid') throw new Error(JSON.stringify(started.problems));
  const { url } = started;
  const close = () => started.close();
  onTestFinished(close);
  const key = await firstKey(url, log);
  const ask: TestGateway['ask'] = (path, asked = {}) =>
    fetch(url + path, {
      method: asked.method ?? (asked.body === undefined ? 'GET' : 'POST'),
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${asked.key ?? key}`,
        ...asked.headers,
      },
      ...(asked.body !== undefined && { body: JSON.stringify(asked.body) }),
      ...(asked.signal !== undefined && { signal: asked.signal }),
    });
  const turn: TestGateway['turn'] = (body, asked) => ask('/v1/messages', { ...asked, body });
  return { url, dir, home, log, key, upstream: turns, ask, turn, close };
}

function poolsOf(upstream: string): string {
  return (CONFIG_TEXTS['pools.yaml'] ?? '')
    .replace('https://api.anthropic.com', upstream)
    .replace('http://127.0.0.1:11434/v1', `${upstream}/v1`);
}

async function firstKey(url: string, log: readonly string[]): Promise<string> {
  const token = /--setup (\S+)/.exec(log.join('\n'))?.[1];
  const answer = await fetch(`${url}/api/v1/setup/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ setup_token: token, user_id: 'ada' }),
  });
  const told: unknown = await answer.json();
  const key = isObject(told) ? told['api_key'] : undefined;
  if (typeof key !== 'string') throw new Error(`no key: ${answer.status} ${JSON.stringify(told)}`);
  return key;
}

/** The id of the first turn that waits for a person, once one does. */
export async function pendingApproval(gateway: TestGateway): Promise<string> {
  for (;;) {
    const answer = await gateway.ask('/api/v1/approvals?state=pending');
    const { approvals } = (await answer.json()) as { approvals: { id: string }[] };
    const [first] = approvals;
    if (first !== undefined) return first.id;
  }
}

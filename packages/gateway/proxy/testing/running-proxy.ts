// A proxy that runs in the test, with a home of its own and events in a file, with a gateway or without one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Event, isFailure, parseEventLine } from '@subluminal/contracts';
import { loadConfig } from '@subluminal/plane/config';
import { ensurePrivateFolder } from '@subluminal/plane/os';
import { onTestFinished } from 'vitest';
import {
  anthropicAnswer,
  runningGateway,
  type TestGatewayOptions,
} from '../../serve/testing/running-gateway.ts';
import { startOwnProxy } from '../start-own-proxy.ts';
import { startProxy } from '../start-proxy.ts';

export interface TestProxy {
  readonly url: string;
  readonly home: string;
  readonly log: readonly string[];
  /** Sends a turn as a client does, by its path behind the address. */
  ask(
    path: string,
    body?: object,
    headers?: { readonly [name: string]: string },
  ): Promise<Response>;
  /** Ends it, and gives what it has recorded. */
  close(): Promise<readonly Event[]>;
}

export interface TestProxyOptions {
  readonly gatewayUrl: string;
  readonly apiKey: string;
  readonly env?: { readonly [name: string]: string } | undefined;
  readonly passesEvents?: boolean;
  readonly version?: string;
}

type StartedProxy = ReturnType<typeof startProxy>;
type SharedOptions = Omit<Parameters<typeof startProxy>[0], 'login' | 'passesEvents'>;

export function runningProxyFor(options: TestProxyOptions): Promise<TestProxy> {
  const { gatewayUrl, apiKey, passesEvents = false } = options;
  const login = { gatewayUrl, apiKey, keyId: 'k', userId: 'ada', teamId: 'platform' };
  return testProxy(options, (shared) => startProxy({ ...shared, login, passesEvents }));
}

export interface OwnProxyOptions {
  readonly env?: TestProxyOptions['env'];
  /** The text of policy.yaml. */
  readonly policy?: string;
}

/** A proxy that is logged in to no gateway. */
export function runningOwnProxy({ env, policy }: OwnProxyOptions): Promise<TestProxy> {
  return testProxy({ env }, (shared) => {
    const { home } = shared.paths;
    if (policy !== undefined) writeFileSync(join(home, 'policy.yaml'), policy, { mode: 0o600 });
    return startOwnProxy({ ...shared, prices: [], hasChannel: true, env: { HOME: home } });
  });
}

async function testProxy(
  options: Pick<TestProxyOptions, 'env' | 'version'>,
  start: (shared: SharedOptions) => StartedProxy,
): Promise<TestProxy> {
  const home = mkdtempSync(join(tmpdir(), 'sub-proxy-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const events = join(home, 'events.jsonl');
  const env = { SUB_HOME: home, HOME: home, SUB_EVENTS: `file:${events}`, ...options.env };
  const loaded = await loadConfig({ env, cwd: home });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config, paths } = loaded;
  for (const folder of [paths.run, paths.spool]) ensurePrivateFolder(folder);
  const log: string[] = [];
  const proxy = await start({
    config,
    paths,
    producer: {
      run_id: 'proxy',
      agent_id: 'proxy',
      client: 'unknown',
      env: 'dev',
      source: { host_id: 'h', proc_id: 'p', shim_id: 's' },
    },
    version: options.version ?? '0.1.0',
    port: 0,
    wakeLedger: () => {},
    log: (line) => log.push(line),
  });
  if (isFailure(proxy)) throw new Error(`${proxy.message} [${proxy.code}]`);
  const { url } = proxy;
  let closing: Promise<void> | undefined;
  const close = async () => {
    closing ??= proxy.close();
    await closing;
    const lines = readFileSync(events, 'utf8').trimEnd().split('\n');
    return lines.filter((line) => line !== '').map(eventOf);
  };
  onTestFinished(() => {
    closing ??= proxy.close();
    return closing;
  });
  return {
    url,
    home,
    log,
    close,
    ask: (path, body, headers) =>
      fetch(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'sk-aicg-noop', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
  };
}

function eventOf(line: string): Event {
  const parsed = parseEventLine(line);
  if (!parsed.ok) throw new Error(`no event: ${line}`);
  return parsed.event;
}

export const ASKED = {
  model: 'any',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello?' }],
};
export const MESSAGES = '/anthropic/v1/messages';

/** A proxy that is logged in to a gateway with a scripted upstream. */
export async function behindGateway(
  gatewayOptions: TestGatewayOptions = {},
  proxyOptions: Partial<TestProxyOptions> = {},
) {
  const gateway = await runningGateway(gatewayOptions);
  const { url: gatewayUrl, key: apiKey } = gateway;
  const proxy = await runningProxyFor({ gatewayUrl, apiKey, ...proxyOptions });
  return { gateway, proxy };
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

/** An answer in three pieces: nothing of it yet, its text, and its end. */
export const ANSWER_START = event('message_start', {
  message: { ...anthropicAnswer(''), content: [], stop_reason: null },
});
export const ANSWER_TEXT =
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello.' } });
export const ANSWER_END =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } }) +
  event('message_stop', {});

export function streamedAnswer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(ANSWER_START + ANSWER_TEXT + ANSWER_END);
}

// A running `sub serve` in a home of its own, and its clients as plain HTTP.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../stores/config/index.ts';
import { startServe } from '../start-serve.ts';

const SCRIPTED = fileURLToPath(new URL('./scripted-server.mjs', import.meta.url));
const POST_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** What the tests look at in events. */
interface RecordedEvent {
  readonly run_id: string;
  readonly principal?: string;
  readonly decision?: { readonly action: string };
  readonly run?: { readonly status: string };
}

export interface ServedOptions {
  readonly policy?: string;
  /** Files of SUB_HOME, by their paths in it. */
  readonly homeFiles?: { readonly [path: string]: string };
  /** The configuration, unless it is one server named `files`, open to this machine. */
  readonly config?: string;
  readonly flags?: { readonly [flag: string]: string };
  /** Further variables of its environment. */
  readonly variables?: { readonly [name: string]: string };
}

export async function served(options: ServedOptions = {}) {
  const { policy, homeFiles = {}, config, flags = {}, variables = {} } = options;
  const home = mkdtempSync(join(tmpdir(), 'sub-serve-'));
  const file = join(home, 'serve.yaml');
  const events = join(home, 'events.jsonl');
  const command = `[${JSON.stringify(process.execPath)}, ${JSON.stringify(SCRIPTED)}]`;
  const write = (text: string) =>
    writeFileSync(file, text.replaceAll('COMMAND', command), { mode: 0o600 });
  write(
    config ?? 'listen: 127.0.0.1:0\nauth: {none: true}\nservers: {files: {command: COMMAND}}\n',
  );
  const policyFile = join(home, 'policy.yaml');
  if (policy !== undefined) writeFileSync(policyFile, policy, { mode: 0o600 });
  const writeHome = (path: string, text: string): void => {
    const at = join(home, '.subluminal', path);
    mkdirSync(dirname(at), { recursive: true, mode: 0o700 });
    writeFileSync(at, text, { mode: 0o600 });
  };
  for (const [path, text] of Object.entries(homeFiles)) writeHome(path, text);
  const places = { HOME: home, SUB_HOME: join(home, '.subluminal') };
  const env = { PATH: process.env['PATH'], ...places, ...variables };
  const all = {
    events: `file:${events}`,
    ...(policy !== undefined && { policy: policyFile }),
    ...flags,
  };
  const loaded = await loadConfig({ env, cwd: home, flags: all });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const started = await startServe({ file, loaded, env, cwd: home, flags: all, log });
  if (isFailure(started)) throw new Error(`${started.message} ${started.fix}`);
  if (started.kind === 'invalid') throw new Error(JSON.stringify(started.problems));
  let isClosed = false;
  const close = async (isCut = false): Promise<void> => {
    isClosed = true;
    await started.close(() => isCut);
  };
  onTestFinished(async () => {
    if (!isClosed) await close(true);
    rmSync(home, { recursive: true, force: true });
  });
  const url = (server = 'files') => `${started.url}/mcp/${server}`;
  const eventsOf = (type: string) =>
    readFileSync(events, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"type":"${type}"`))
      .map((line) => JSON.parse(line) as RecordedEvent);
  const reload = () => started.reload();
  const { paths } = loaded;
  return { ...started, reload, home, lines, write, writeHome, url, close, eventsOf, paths };
}

export function request(id: number | string, method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function call(id: number | string, name: string, args: object = {}, meta?: object): string {
  return request(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
}

export function post(url: string, body: string, headers: { [name: string]: string } = {}) {
  return fetch(url, { method: 'POST', headers: { ...POST_HEADERS, ...headers }, body });
}

/** A message as a client gets it. */
export interface Received {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly progressToken?: number | string };
  readonly result?: { readonly isError?: boolean; readonly content: readonly { text: string }[] };
}

/** The messages of a response, whichever form it has. */
export async function messagesOf(response: Response): Promise<readonly Received[]> {
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  const all = isJson ? [text] : [...text.matchAll(/^data: (.+)$/gm)].map(([, json = '']) => json);
  return all.flatMap((json) => JSON.parse(json) as Received | Received[]);
}

/** The text that a tool has answered with. */
export async function textOf(response: Response): Promise<string> {
  const messages = await messagesOf(response);
  return messages.at(-1)?.result?.content[0]?.text ?? '';
}

/** Begins a session; the headers of its later requests. */
export async function begin(
  url: string,
  version = '2025-11-25',
  headers: { [name: string]: string } = {},
): Promise<{ [name: string]: string }> {
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: version, capabilities: { roots: {} }, clientInfo };
  const response = await post(url, request('init', 'initialize', params), headers);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
  const session = { ...headers, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' };
  const own = { ...session, 'mcp-protocol-version': version };
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const accepted = await post(url, initialized, own);
  if (accepted.status !== 202) throw new Error(`${accepted.status} ${await accepted.text()}`);
  return own;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A call of 2026-07-28 with its headers. */
export function modern(url: string, id: number | string, name: string, more: ModernCall = {}) {
  const { args = {}, meta = {}, headers = {}, signal } = more;
  return fetch(url, {
    method: 'POST',
    body: call(id, name, args, { ...META, ...meta }),
    headers: {
      ...POST_HEADERS,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
      ...headers,
    },
    ...(signal !== undefined && { signal }),
  });
}

export interface ModernCall {
  readonly args?: object;
  readonly meta?: object;
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

/** Another request of 2026-07-28. */
export function modernRequest(url: string, id: number, method: string, params: object = {}) {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  return post(url, request(id, method, { ...params, _meta: META }), headers);
}

/** The events of a stream, one by one. */
export async function* eventsIn(response: Response): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  const chunks: AsyncIterable<Uint8Array> | undefined = response.body ?? undefined;
  for await (const bytes of chunks ?? []) {
    text += decoder.decode(bytes, { stream: true });
    for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n')) {
      yield text.slice(0, at);
      text = text.slice(at + 2);
    }
  }
  return undefined;
}

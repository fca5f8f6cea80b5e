// A running `sub serve` on loopback, as a process of its own, and clients of it that keep to no rule.
import type { ChildProcess } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ROOT, startSub } from './sub.ts';

export const SMALL_SERVER = [process.execPath, `${ROOT}test/e2e/small-server.mjs`];

export interface Serving {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What it has logged. */
  readonly log: () => string;
  /** Replaces its configuration, which it takes over by itself. */
  readonly configure: (config: ServeSettings) => void;
  readonly home: string;
  close(): Promise<void>;
}

/** As JSON, which is YAML. */
export type ServeSettings = {
  readonly limits?: { readonly [name: string]: number };
  readonly [field: string]: unknown;
};

/** An entry of `auth.keys`. */
export function keyEntry(name: string, key = name, servers?: readonly string[]) {
  return { name, sha256: hash('sha256', key), ...(servers && { servers }) };
}

const LISTENING = /It listens on (http:\/\/127\.0\.0\.1:(\d+))/;

/** Calls that hang on purpose do not keep a test waiting. */
const DEFAULTS = { listen: '127.0.0.1:0' };
const LIMITS = { drain_s: 1 };

interface ServingOptions {
  readonly flags?: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

export async function startServing(
  config: ServeSettings,
  { flags = ['--events', 'off'], env: more = {} }: ServingOptions = {},
): Promise<Serving> {
  ensureBuilt();
  const home = mkdtempSync(join(tmpdir(), 'sub-serve-'));
  const file = join(home, 'serve.yaml');
  const configure = ({ limits, ...next }: ServeSettings): void => {
    const all = { ...DEFAULTS, ...next, limits: { ...LIMITS, ...limits } };
    writeFileSync(file, JSON.stringify(all), { mode: 0o600 });
  };
  configure(config);
  const env = { HOME: home, SUB_HOME: join(home, '.subluminal'), ...more };
  const child = startSub(['serve', '--config', file, ...flags], { cwd: home, env });
  let log = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      const listening = LISTENING.exec(log);
      if (listening !== null) resolve(listening);
    });
    child.once('exit', () => reject(new Error(log)));
  });
  const [, url = '', port] = found;
  return {
    url,
    port: Number(port),
    pid: child.pid ?? 0,
    log: () => log,
    configure,
    home,
    close: async () => {
      await stop(child);
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string | string[] };
  readonly body?: string | Uint8Array;
}

/** One request with exactly these headers. */
export function ask({ port }: { readonly port: number }, asking: Asking): Promise<Answered> {
  const { method = 'POST', path = '/mcp/small', headers = {}, body } = asking;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: '127.0.0.1', port, method, path, headers: { ...headers }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('error', reject);
        response.once('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

export const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
} as const;

export function initialize(version = '2025-06-18'): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  });
}

export function call(id: number | string, name: string, args: object = {}): string {
  const params = { name, arguments: args };
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
}

const VERSION = '2026-07-28';

/** A request of 2026-07-28 with the headers that it needs. */
export function modern(
  id: number | string,
  method: string,
  params: { readonly [name: string]: unknown } = {},
): Required<Pick<Asking, 'headers' | 'body'>> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = params['name'];
  return {
    headers: {
      ...MCP_HEADERS,
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  };
}

export function bearer(key: string): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` };
}

/** A session of 2025-06-18: the headers of its requests. */
export async function beginSession(
  serving: { readonly port: number },
  headers: { readonly [name: string]: string },
  path = '/mcp/small',
): Promise<{ readonly [name: string]: string }> {
  const all = { ...MCP_HEADERS, ...headers };
  const begun = await ask(serving, { path, headers: all, body: initialize() });
  const id = begun.headers['mcp-session-id'];
  if (begun.status !== 200 || typeof id !== 'string') throw new Error(begun.text);
  const own = { ...all, 'mcp-session-id': id, 'mcp-protocol-version': '2025-06-18' };
  const ready = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await ask(serving, { path, headers: own, body: ready });
  return own;
}

/** Sends these bytes and reads until the connection ends or the text is enough. */
export function sendRaw(
  { port }: { readonly port: number },
  bytes: string | Uint8Array,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let text = '';
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part;
      if (isEnough(text)) end();
    });
    socket.on('error', end);
    socket.on('close', end);
    socket.write(bytes);
  });
}

/** The statuses of all answers in a text. */
export function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

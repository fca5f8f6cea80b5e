// The same work by way of `mcp-proxy`, a proxy of the registry that many use: for orientation only.
// It speaks HTTP to its clients, so the client here does.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Connection, INITIALIZE, INITIALIZED, LIST_TOOLS, type Load } from './connection.ts';
import type { Requests } from './requests.ts';
import { NODE, type Place, SERVER, type Way } from './ways.ts';

const VERSION = '6.7.19';
const FOLDER = fileURLToPath(
  new URL('../../node_modules/.cache/subluminal/mcp-proxy/', import.meta.url),
);
const PROGRAM = join(FOLDER, 'node_modules', 'mcp-proxy', 'dist', 'bin', 'mcp-proxy.mjs');
const INSTALL_MS = 120_000;
const START_MS = 20_000;
const CONNECT_AGAIN_MS = 5;
const CLOSE_MS = 5_000;
// Below what the system gives to outgoing connections.
const PORT_FIRST = 20_000;
const PORTS = 12_000;
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

let lastPort = process.pid % PORTS;

class HttpConnection implements Connection {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  #session: { readonly [name: string]: string } = {};

  constructor(env: NodeJS.ProcessEnv) {
    lastPort = (lastPort + 1) % PORTS;
    this.#port = PORT_FIRST + lastPort;
    const listen = ['--port', String(this.#port), '--host', '127.0.0.1', '--server', 'stream'];
    const args = [PROGRAM, ...listen, '--', NODE, SERVER];
    this.#child = spawn(NODE, args, { env, stdio: 'ignore' });
    if (this.#child.pid === undefined) throw new Error('mcp-proxy could not be started');
    this.pid = this.#child.pid;
  }

  async initialize(): Promise<void> {
    const answer = await this.#firstAnswer(performance.now() + START_MS);
    const id = answer.headers['mcp-session-id'];
    if (typeof id === 'string') this.#session = { 'mcp-session-id': id };
    await textOf(answer);
    await textOf(await this.#post(JSON.stringify(INITIALIZED)));
  }

  async warmUp(): Promise<void> {
    await textOf(await this.#post(JSON.stringify(LIST_TOOLS)));
  }

  async call(requests: Requests): Promise<void> {
    const text = await textOf(await this.#post(requests.one()));
    // Its answers are written anew, so only their size can be told.
    if (text.length < requests.answerBytes - 100 || !text.includes('"result"')) {
      throw new Error('mcp-proxy refused a call');
    }
  }

  async flood(requests: Requests, { calls, windowCalls }: Load): Promise<void> {
    let left = calls;
    const one = async (): Promise<void> => {
      while (left-- > 0) await this.call(requests);
    };
    await Promise.all(Array.from({ length: windowCalls }, one));
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_MS);
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
    clearTimeout(timer);
  }

  /** Until it listens, connections are refused. */
  async #firstAnswer(untilMs: number): Promise<IncomingMessage> {
    for (;;) {
      try {
        return await this.#post(JSON.stringify(INITIALIZE));
      } catch (cause) {
        if (performance.now() > untilMs || this.#child.exitCode !== null) throw cause;
        await pause(CONNECT_AGAIN_MS);
      }
    }
  }

  #post(body: string | Buffer): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request({
        port: this.#port,
        host: '127.0.0.1',
        path: '/mcp',
        method: 'POST',
        agent: this.#agent,
        headers: { ...HEADERS, ...this.#session },
      });
      sent.once('response', resolve).once('error', reject);
      sent.end(body);
    });
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

/** Puts it beside the other caches of the checkout, once. False when it can't be had. */
function install(): boolean {
  if (existsSync(PROGRAM)) return true;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const args = ['install', '--prefix', FOLDER, ...quiet, `mcp-proxy@${VERSION}`];
  spawnSync('npm', args, { cwd: FOLDER, stdio: 'ignore', timeout: INSTALL_MS });
  return existsSync(PROGRAM);
}

/** The way by `mcp-proxy`, or undefined when it can't be had. */
export function mcpProxyWay({ env }: Place): Way | undefined {
  if (!install()) return undefined;
  return { name: 'mcp-proxy', open: () => new HttpConnection(env) };
}

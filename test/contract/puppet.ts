// The test's end of servers/puppet.mjs: what the server is told to do, and what it tells.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLines, type Lines, PATIENCE_MS } from './lines.ts';

export interface Puppet {
  readonly role: 'server' | 'child';
  readonly pid: number;
  readonly shimId: string;
  /** The names of its environment variables. */
  readonly env: readonly string[];
  /** Lines that its stdin brought. */
  readonly heard: Lines;
  /** The process has ended. */
  readonly gone: Promise<void>;
  /** Tells it to do something; resolves when it has. */
  readonly tell: (act: string, how?: Facts) => Promise<void>;
  /** As `tell`, without waiting: for what ends it, or blocks it. */
  readonly order: (act: string, how?: Facts) => void;
  /** Writes exactly these bytes to its stdout. */
  readonly write: (bytes: string | Buffer) => Promise<void>;
  /** A fact of this name; facts that came before it was asked for count. */
  readonly fact: (name: string) => Promise<unknown>;
}

type Facts = { readonly [name: string]: unknown };

export interface Stage {
  readonly socketPath: string;
  /** The command line that starts a puppet as the server. */
  readonly command: readonly string[];
  /** The next puppet that says hello. */
  next(): Promise<Puppet>;
  /** All that ever said hello. */
  puppets(): readonly Puppet[];
  close(): void;
}

const PROGRAM = fileURLToPath(new URL('servers/puppet.mjs', import.meta.url));

/** A place where puppets report. */
export async function createStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-stage-'));
  const socketPath = join(folder, 'stage');
  const seen: Puppet[] = [];
  const arrivals = createQueue<Puppet>('a puppet to appear');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    greet(socket, (puppet) => {
      seen.push(puppet);
      arrivals.push(puppet);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    socketPath,
    command: [process.execPath, PROGRAM, socketPath],
    next: () => arrivals.next(),
    puppets: () => seen,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function greet(socket: Socket, appear: (puppet: Puppet) => void): void {
  const facts = new Map<string, Queue<unknown>>();
  const heard = createLines("the server's stdin");
  const queue = (name: string): Queue<unknown> => {
    const found = facts.get(name) ?? createQueue<unknown>(`the fact ${name}`);
    facts.set(name, found);
    return found;
  };
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void gone.then(() => heard.end());
  const order = (act: string, how: Facts = {}): void => {
    socket.write(`${JSON.stringify({ act, ...how })}\n`);
  };
  const tell = async (act: string, how: Facts = {}): Promise<void> => {
    order(act, how);
    await queue(`did ${act}`).next();
  };
  const write = (bytes: string | Buffer) =>
    tell('write', { base64: Buffer.from(bytes).toString('base64') });
  const hear = (fact: Facts): void => {
    const [name = '', value] = Object.entries(fact)[0] ?? [];
    if (name === 'got') return heard.push(Buffer.from(String(value), 'base64'));
    if (name === 'eof') heard.end();
    if (name !== 'hello') return queue(name === 'did' ? `did ${String(value)}` : name).push(value);
    appear({
      role: value === 'child' ? 'child' : 'server',
      pid: Number(fact['pid']),
      shimId: String(fact['shimId']),
      env: Array.isArray(fact['env']) ? fact['env'].map(String) : [],
      heard,
      gone,
      tell,
      order,
      write,
      fact: (one) => queue(one).next(),
    });
  };
  onJsonLines(socket, hear);
}

function onJsonLines(socket: Socket, hear: (fact: Facts) => void): void {
  let rest = '';
  socket.on('error', () => undefined);
  socket.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const fact: unknown = JSON.parse(line);
      if (typeof fact === 'object' && fact !== null) hear(Object.fromEntries(Object.entries(fact)));
    }
  });
}

interface Queue<T> {
  push(item: T): void;
  next(): Promise<T>;
}

function createQueue<T>(what: string): Queue<T> {
  const items: { readonly item: T }[] = [];
  const waiting: ((item: T) => void)[] = [];
  return {
    push(item) {
      const first = waiting.shift();
      if (first === undefined) items.push({ item });
      else first(item);
    },
    next: () => {
      const first = items.shift();
      if (first !== undefined) return Promise.resolve(first.item);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`waited for ${what}`)), PATIENCE_MS);
        waiting.push((item) => {
          clearTimeout(timer);
          resolve(item);
        });
      });
    },
  };
}

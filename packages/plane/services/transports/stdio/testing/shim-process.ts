// Drives the runner fixture as an agent would, and looks at /proc with its own eyes.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import type { FrameLimits } from '../split-lines.ts';

export interface ShimOptions {
  /** What the fixture server shall do, or a command with its arguments. */
  readonly server: readonly string[];
  readonly graceMs?: number;
  readonly termMs?: number;
  readonly drainMs?: number;
  readonly bytesHigh?: number;
  readonly reportMs?: number;
  /** A signal that comes when the server runs and nobody watches over it yet. */
  readonly early?: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL';
  /** An agent process between the test and the shim. */
  readonly agent?: 'pipes' | 'inherit';
  /** It relays lines by the transports of a shim, with these limits. */
  readonly lines?: FrameLimits;
  /** What to read instead of a pipe from the test. */
  readonly stdin?: Readable | number;
  /** Between a terminal, without its echo, and pipes to the test. */
  readonly isOnTerminal?: boolean;
  /** What to write to instead of a pipe to the test. */
  readonly stdout?: number;
}

export interface Shim {
  /** What the test started: the shim, or the agent above it. */
  readonly child: ChildProcess;
  readonly shimId: string;
  readonly exit: Promise<number | string>;
  fact(kind: string): Promise<Fact>;
  facts(): readonly Fact[];
}

export interface Fact {
  readonly kind: string;
  readonly shimPid: number;
  readonly serverPid: number;
  readonly guardPid: number;
  readonly buffered: number;
  readonly reason: { readonly kind: string };
  readonly force: string;
  readonly left: readonly number[];
  readonly zombies: readonly number[];
  readonly fault: string;
}

interface Seen {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly state: string;
}

const POLL_MS = 20;
const PATIENCE_MS = 20_000;

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

async function bundleRunner(folder: string): Promise<string> {
  const outfile = join(folder, 'runner.mjs');
  await build({
    entryPoints: [fixture('runner.mjs')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  return outfile;
}

/** Starts a shim for the current test; whatever the test leaves is ended with it. */
export async function startShim({
  server,
  agent,
  stdin,
  stdout,
  isOnTerminal,
  ...times
}: ShimOptions): Promise<Shim> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-stdio-'));
  const runner = await bundleRunner(folder);
  const shimId = randomUUID();
  const factsFile = join(folder, 'facts.jsonl');
  const options = JSON.stringify({ shimId, facts: factsFile, ...times });
  const command = server[0]?.startsWith('/') ? server : [fixture('server.mjs'), ...server];
  const program = server[0]?.startsWith('/') ? command : [process.execPath, ...command];
  const shim = [runner, options, ...program];
  const args =
    agent === undefined ? shim : [fixture('agent.mjs'), agent, process.execPath, ...shim];
  const words = [process.execPath, ...args].map((word) => `'${word}'`).join(' ');
  const terminal = ['script', '-qec', `stty -echo -onlcr; exec ${words}`, '/dev/null'];
  const [file = '', ...rest] = isOnTerminal === true ? terminal : [process.execPath, ...args];
  const child = spawn(file, rest, { stdio: [stdin ?? 'pipe', stdout ?? 'pipe', 'pipe'] });
  child.stdin?.on('error', () => {});
  onTestFinished(() => {
    child.kill('SIGKILL');
    for (const { shimPid } of readFacts(factsFile).slice(0, 1)) endOne(shimPid, folder);
    for (const pid of markedPids(shimId)) endOne(pid);
    rmSync(folder, { recursive: true });
  });
  const exit = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const facts = (): readonly Fact[] => readFacts(factsFile);
  const fact = (kind: string) =>
    until(() => facts().find((one) => one.kind === kind), `a fact: ${kind}`);
  return { child, shimId, exit, fact, facts };
}

/** Ends a process that this test started; with `word`, only if its command line holds it. */
function endOne(pid: number, word = ''): void {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)) process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, as it should be.
  }
}

function readFacts(file: string): readonly Fact[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Fact);
}

/** Looks again and again until there is something, within bounds. */
export async function until<T>(look: () => T | undefined, what: string): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function allProcesses(): readonly Seen[] {
  const seen: Seen[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state = '', ppid, pgid] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      seen.push({ pid: Number(name), ppid: Number(ppid), pgid: Number(pgid), state });
    } catch {
      // Gone between listing and reading.
    }
  }
  return seen;
}

/** All that carries the mark and runs. */
function markedPids(shimId: string): readonly number[] {
  return allProcesses()
    .filter(({ state }) => state !== 'Z')
    .map(({ pid }) => pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SUB_SHIM_ID=${shimId}`);
      } catch {
        return false;
      }
    });
}

export function isRunning(pid: number): boolean {
  return allProcesses().some((one) => one.pid === pid && one.state !== 'Z');
}

/** Resolves when neither server, descendants nor guard run; names them when they don't go. */
export async function nothingLeft(shim: Shim): Promise<void> {
  const { serverPid, guardPid } = await shim.fact('up');
  await until(() => {
    const inGroup = allProcesses().filter((one) => one.pgid === serverPid && one.state !== 'Z');
    const left = inGroup.length + markedPids(shim.shimId).length;
    return left === 0 && !isRunning(guardPid) ? true : undefined;
  }, `the end of server ${serverPid} and guard ${guardPid}`);
}

/** Resolves when so many processes carry the mark. */
export async function marked(shim: Shim, count: number): Promise<void> {
  await until(
    () => (markedPids(shim.shimId).length >= count ? true : undefined),
    `${count} processes of the server`,
  );
}

/** Resolves when the stream has said all of the words, each as often as it is named. */
export function heard(
  stream: NodeJS.ReadableStream | null,
  ...words: readonly string[]
): Promise<void> {
  return new Promise((resolve, reject) => {
    let all = '';
    stream?.on('data', (chunk: Buffer) => {
      all += chunk.toString('latin1');
      const left = words.reduce((rest, word) => rest.replace(word, ''), all);
      const bytes = words.reduce((sum, word) => sum + word.length, 0);
      if (all.length - left.length === bytes) resolve();
    });
    stream?.once('end', () => reject(new Error(`never heard ${words.join()}`)));
  });
}

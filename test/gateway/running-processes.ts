// What the tests of this folder start and kill: gateways as processes of the built `sub`, and a Postgres of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { bundleProcess } from '../../packages/gateway/store/testing/start-process.ts';
import { SUB, subEnvironment } from '../e2e/sub.ts';

const POLL_MS = 20;

/** Looks again until it is so; the time limit of the test ends it. */
export async function eventually<T>(look: () => T | Promise<T>, isSo: (seen: T) => boolean) {
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    await wait(POLL_MS);
  }
}

export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-chaos-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface GatewayProcess {
  readonly url: string;
  /** The setup token that it printed; undefined once there is an admin. */
  readonly setupToken: string | undefined;
  readonly log: readonly string[];
  /** Whether it was killed, or has ended by itself. */
  readonly isGone: () => boolean;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface GatewayPlace {
  readonly dir: string;
  readonly home: string;
  readonly database: string;
}

/** Undefined when it ends before it listens: the database may just be away. */
export async function startGatewayProcess(
  place: GatewayPlace,
): Promise<GatewayProcess | undefined> {
  const { dir, home, database } = place;
  const child = spawn(
    process.execPath,
    [SUB, 'gateway', 'serve', dir, '--database', database, '--port', '0'],
    {
      cwd: home,
      env: subEnvironment({ HOME: home, SUB_HOME: join(home, 'sub'), TEST_KEY: 'key-of-the-test' }),
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    if (!hasEnded(child)) await once(child, 'exit');
  };
  onTestFinished(() => kill('SIGKILL'));
  const log: string[] = [];
  const url = await new Promise<string | undefined>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const listens = /It listens on (\S+)\.$/.exec(line);
      if (listens !== null) resolve(listens[1]);
    });
    child.once('exit', () => resolve(undefined));
  });
  if (url === undefined) return undefined;
  const setupToken = /--setup (\S+)/.exec(log.join('\n'))?.[1];
  return { url, setupToken, log, isGone: () => hasEnded(child), kill };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** The key of the first admin, whose user id is `ada`. */
export async function firstKey({ url, setupToken }: GatewayProcess): Promise<string> {
  const answer = await fetch(`${url}/api/v1/setup/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ setup_token: setupToken, user_id: 'ada' }),
  });
  const told = (await answer.json()) as { readonly api_key?: string };
  if (told.api_key === undefined) throw new Error(`no key: ${JSON.stringify(told)}`);
  return told.api_key;
}

export interface PostgresProcess {
  readonly url: string;
  /** As a crash: nothing is said goodbye to, and the next start has to recover. */
  crash(): Promise<void>;
  start(): Promise<void>;
}

/** A cluster that belongs to this test alone, because it is going to be killed. */
export async function startPostgresProcess(): Promise<PostgresProcess> {
  const folder = join(mkdtempSync(join(tmpdir(), 'sub-chaos-postgres-')), 'cluster');
  mkdirSync(folder);
  for (const path of [join(folder, '..'), folder]) chmodSync(path, 0o755);
  const program = await bundleProcess('postgres-server');
  const child = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  onTestFinished(async () => {
    child.stdin.write('stop\n');
    if (!hasEnded(child)) await once(child, 'exit');
    rmSync(join(folder, '..'), { recursive: true, force: true });
  });
  const file = join(folder, 'url');
  await eventually(
    () => existsSync(file),
    (isThere) => isThere,
  );
  const tell = async (command: string, answer: string) => {
    child.stdin.write(`${command}\n`);
    const next: IteratorResult<string, unknown> = await lines.next();
    if (next.done === true || next.value !== answer)
      throw new Error(`Postgres did not ${command}.`);
  };
  return {
    url: `${readFileSync(file, 'utf8')}/postgres`,
    crash: () => tell('crash', 'crashed'),
    start: () => tell('start', 'started'),
  };
}

// What the tests of this folder start and kill: gateways as processes of the built `sub`, and a Postgres of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { bundleProcess } from '../../packages/gateway/store/testing/start-process.ts';
import { hasEnded, type ServedGateway, serveGateway } from './served-gateway.ts';

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

export interface GatewayPlace {
  readonly dir: string;
  readonly home: string;
  readonly database: string;
}

/** Undefined when it ends before it listens: the database may just be away. */
export async function serveAt(place: GatewayPlace): Promise<ServedGateway | undefined> {
  const { dir, home, database } = place;
  const served = await serveGateway({
    args: [dir, '--database', database],
    cwd: home,
    env: { HOME: home, SUB_HOME: join(home, 'sub'), TEST_KEY: 'key-of-the-test' },
    started: (kill) => onTestFinished(() => kill('SIGKILL')),
  });
  return 'ended' in served ? undefined : served;
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

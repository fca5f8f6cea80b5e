// A real Postgres for tests: one server for each run of the tests, one database for each suite.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { bundleProcess } from './start-process.ts';

/** For hooks that start it: a busy machine takes its time. */
export const POSTGRES_START_MS = 60_000;
const POLL_MS = 50;

export interface TestDatabase {
  readonly url: string;
  query(sql: string): Promise<readonly { readonly [column: string]: unknown }[]>;
  drop(): Promise<void>;
}

/** Makes a database of its own, on `SUB_TEST_POSTGRES` or on a server that the first test starts. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = process.env['SUB_TEST_POSTGRES'] ?? (await serverOfThisRun());
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(server, (client) => client.query(`CREATE DATABASE ${name}`));
  const address = new URL(server);
  address.pathname = `/${name}`;
  const url = address.href;
  return {
    url,
    query: async (sql) => {
      const { rows } = await withClient(url, (client) =>
        client.query<{ readonly [column: string]: unknown }>(sql),
      );
      return rows;
    },
    drop: () =>
      withClient(server, async (client) => {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }),
  };
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** All threads of this process share one server: whoever makes the folder starts it. */
async function serverOfThisRun(): Promise<string> {
  const folder = join(tmpdir(), `subluminal-test-postgres-${process.pid}`);
  const urlFile = join(folder, 'url');
  if (isFirst(folder)) {
    const program = await bundleProcess('postgres-server');
    spawn(process.execPath, [program, folder], { stdio: 'ignore', detached: true }).unref();
  }
  const endMs = performance.now() + POSTGRES_START_MS;
  while (!existsSync(urlFile)) {
    if (performance.now() > endMs) throw new Error(`No Postgres started in ${folder}.`);
    await wait(POLL_MS);
  }
  return readFileSync(urlFile, 'utf8');
}

function isFirst(folder: string): boolean {
  try {
    // The user of Postgres must get through it.
    mkdirSync(folder, { mode: 0o755 });
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') return false;
    throw cause;
  }
}

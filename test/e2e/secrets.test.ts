// Secrets of a server, from a file to the server and to nowhere else: the built `sub shim`, a real
// client, a real server that tells its environment, and the ledger searched byte by byte.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everythingServer } from '../bundled.ts';
import { verifies } from '../requirements.ts';
import { environmentBelow } from './environment.ts';
import { ensureBuilt, runSub, SUB } from './sub.ts';

const EVERYTHING = everythingServer();
const SERVER = [process.execPath, EVERYTHING, 'stdio'];
const FROM_FILE = 'tok-5f0c1d9e7a33b2';
const FROM_ENV = 'zq-81ddf02c6b95e4';

const CONFIG = `
[[servers.everything.secret_bindings]]
inject_as = "FILE_TOKEN"
secret_ref = "file_token"
source = "file"

[[servers.everything.secret_bindings]]
inject_as = "OTHER_TOKEN"
secret_ref = "env_token"
source = "env"
`;

let folder: string;
let home: string;
let env: { readonly [name: string]: string };
beforeAll(() => ensureBuilt());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-secrets-'));
  home = join(folder, 'home');
  mkdirSync(join(home, 'secrets'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'config.toml'), CONFIG);
  writeFileSync(join(home, 'secrets', 'file_token'), `${FROM_FILE}\n`, { mode: 0o600 });
  env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home, ENV_TOKEN: FROM_ENV };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shimArgs = (name: string, flags: readonly string[] = []) => [
  ...['shim', '--server-name', name, '--events', `file:${join(folder, 'events.jsonl')}`, ...flags],
  ...['--', ...SERVER],
];

async function withClient<T>(
  name: string,
  use: (client: Client, pid: number | null) => T | Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'secrets', version: '1' });
  const args = [SUB, ...shimArgs(name)];
  const command = process.execPath;
  const transport = new StdioClientTransport({ command, args, env, stderr: 'ignore' });
  await client.connect(transport);
  try {
    return await use(client, transport.pid);
  } finally {
    await client.close();
  }
}

function serverEnv(_client: Client, pid: number | null): readonly string[] {
  return environmentBelow(pid, EVERYTHING);
}

/** Every file that the product has written, the database of the ledger included. */
function everythingStored(): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const own = files.filter((file) => file.isFile() && !file.parentPath.endsWith('secrets'));
  return own.map((file) => readFileSync(join(file.parentPath, file.name), 'latin1')).join('\n');
}

const LEAK = { data: { subluminal: { reason_code: 'LEAK_BLOCKED' } } };

describe('bound secrets', () => {
  it('reach their server under their names, and no other server', async () => {
    verifies('IP-4.1', 'SL-7.4', 'T-F.1');
    const own = await withClient('everything', serverEnv);
    const given = [`FILE_TOKEN=${FROM_FILE}`, `OTHER_TOKEN=${FROM_ENV}`];
    expect(own).toEqual(expect.arrayContaining(given));
    expect(own.filter((word) => word.startsWith('ENV_TOKEN='))).toEqual([]);
    const other = await withClient('another', serverEnv);
    expect(other.length).toBeGreaterThan(2);
    expect(other.join('\n')).not.toContain(FROM_ENV);
    expect(other.join('\n')).not.toContain(FROM_FILE);
  });

  it('are recorded by name alone, however the agent and the server write them', async () => {
    verifies('IP-4.1', 'IP-6.4', 'SL-7.4', 'T-F.2');
    const shapes = [FROM_FILE, FROM_ENV].flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('base64'),
      Buffer.from(`x${secret}`).toString('base64url'),
      Buffer.from(secret).toString('hex'),
    ]);
    await withClient('everything', async (client) => {
      // The server tells them, and the agent hears of their names alone.
      const { content } = await client.callTool({ name: 'get-env', arguments: {} });
      expect(JSON.stringify(content)).toContain('FILE_TOKEN');
      for (const shape of shapes) expect(JSON.stringify(content)).not.toContain(shape);
      // Whoever has come by them cannot send them.
      for (const message of shapes) {
        const sent = client.callTool({ name: 'echo', arguments: { message } });
        await expect(sent).rejects.toMatchObject(LEAK);
      }
    });
    const ingested = await runSub(['ingest', join(folder, 'events.jsonl')], { cwd: folder, env });
    expect(ingested.code).toBe(0);
    const stored = everythingStored();
    expect(stored).toContain('"secret_ref":"file_token"');
    expect(stored).toContain('[REDACTED:injected-secret]');
    // The middle, which nothing but the secret decides.
    for (const shape of shapes) expect(stored).not.toContain(shape.slice(4, 16));
  });
});

describe('a secret that cannot be used', () => {
  it('stops the start in production, and the message has its name and no value', async () => {
    chmodSync(join(home, 'secrets', 'file_token'), 0o644);
    const ended = await runSub(shimArgs('everything'), { cwd: folder, env });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('secret `file_token` for FILE_TOKEN');
    expect(ended.stderr).toContain('chmod 600');
    expect(ended.stderr).not.toContain(FROM_FILE);
  });

  it('is left out in development, with a warning', async () => {
    rmSync(join(home, 'secrets', 'file_token'));
    const args = shimArgs('everything', ['--profile', 'development']);
    const ended = await runSub(args, { cwd: folder, env });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('SUB_SECRET_MISSING');
    const events = readFileSync(join(folder, 'events.jsonl'), 'utf8');
    expect(events).toMatch(/"secret_ref":"file_token","source":"file","success":false/);
    expect(events).toMatch(/"secret_ref":"env_token","source":"env","success":true/);
  });
});

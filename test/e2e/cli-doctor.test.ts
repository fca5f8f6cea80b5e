// What the built `sub` says about the machine that it runs on.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT } from './sub.ts';

interface Report {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly id: string;
    readonly level: string;
    readonly text: string;
    readonly fix: string | null;
  }[];
}

let root = '';
let folder = '';
let count = 0;
beforeAll(() => {
  ensureBuilt();
  root = mkdtempSync(join(tmpdir(), 'sub-doctor-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  mkdirSync(folder);
});

function sub(...args: readonly string[]) {
  const env = { SUB_HOME: join(folder, 'home'), HOME: folder, NODE_OPTIONS: '' };
  return askSub(args, { cwd: folder, env });
}

async function report(): Promise<Report> {
  return JSON.parse((await sub('doctor', '--json')).stdout) as Report;
}

const level = ({ checks }: Report, id: string) => checks.find((check) => check.id === id)?.level;

test('finds nothing broken on a machine that has nothing yet, and leaves it so', async () => {
  verifies('SL-6-first');
  const { code, stdout, stderr } = await sub('doctor');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^✔ node +Node \d+/);
  expect(stdout).toMatch(/\n! policy .*\n +→ Write one: sub init\n/);
  expect(stdout).toMatch(/\n0 broken parts, 1 warning\.\n$/);
  expect(readdirSync(folder)).toEqual([]);
});

test('sees the daemon that runs, and that it is of this version', async () => {
  writeFileSync(join(folder, 'policy.yaml'), starter());
  // As if it was recorded just now: what is old is not kept for ever.
  const session = readFileSync(`${ROOT}examples/events/session.jsonl`, 'utf8');
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(join(folder, 'events.jsonl'), session.replaceAll(/2026-01-31(?=T)/g, day));
  await sub('ingest', 'events.jsonl');
  await sub('ledgerd');
  try {
    const found = await report();
    expect(found.ok).toBe(true);
    const text = (id: string) => found.checks.find((check) => check.id === id)?.text ?? '';
    expect(text('daemon')).toMatch(/^runs as \d+ for \d+ \w+, 0 connections, version \d/);
    expect(text('ledger')).toMatch(/ledger\.db, 50 events, /);
    expect(text('head')).toMatch(/^head \d+ covers event \d+/);
    expect(text('socket')).toMatch(/ is in use$/);
    expect(text('policy')).toMatch(/policy\.yaml \(of the project\), starter 1\.0\.0, hash /);
    expect(found.checks.filter((check) => check.level === 'broken')).toEqual([]);
  } finally {
    await sub('ledgerd', '--stop');
  }
});

function starter(): string {
  return 'policy_id: starter\nversion: "1.0.0"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules: []\n';
}

test('ends with 1 when something is broken, and says what', async () => {
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  writeFileSync(join(folder, 'home', 'config.toml'), 'nonsense = 1\n', { mode: 0o600 });
  writeFileSync(join(folder, 'home', 'ledger.db'), 'no database'.repeat(100), { mode: 0o600 });
  const { code, stdout } = await sub('doctor');
  expect(code).toBe(1);
  expect(stdout).toMatch(/✘ config .*1 problem\n +.*config\.toml:1:1: error: unknown key/);
  expect(stdout).toMatch(/✘ ledger .*\[SUB_LEDGER_/);
  const found = await report();
  expect(found.ok).toBe(false);
  expect(level(found, 'node')).toBe('ok');
});

test('names servers, and prints nothing else that stands in the files of others', async () => {
  const servers = {
    plain: { command: 'npx', args: ['-y', 'secret-server'], env: { KEY: 'hunter2' } },
    governed: { command: 'sub', args: ['shim', '--server-name', 'x', '--', 'secret-server'] },
  };
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
  const { code, stdout } = await sub('doctor');
  expect(code).toBe(0);
  expect(stdout).toMatch(/! clients .*1 of 2 servers governed, not plain\n/);
  expect(stdout).not.toMatch(/hunter2|secret-server/);
});

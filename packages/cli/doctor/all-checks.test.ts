import { spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeLedger } from '../ledger/made.test-support.ts';
import { end, runStart } from '../tail/recorded.test-support.ts';
import { CHECKS, checkAll } from './all-checks.ts';
import { type Check, type Machine, ok } from './check.ts';
import {
  checkBuild,
  checkDisk,
  checkEnvironment,
  checkFiles,
  checkHome,
  checkNode,
  checkRunFiles,
  checkSpool,
} from './check-installation.ts';
import { checkDaemon, checkHead, checkLedger, checkSocket } from './check-ledger.ts';
import { checkConfig, checkPolicy } from './check-policies.ts';
import { checkSecrets } from './check-secrets.ts';
import { machineIn, put } from './machine.test-support.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

let folder = '';
let machine: Machine;
const servers: Server[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-doctor-'));
  machine = await machineIn(folder);
  mkdirSync(machine.cwd, { recursive: true });
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As the command tells it: the level, then the text and what to do. */
async function found(run: Check, on: Machine = machine): Promise<string> {
  const { level, text, fix, more = [] } = await run(on);
  const parts = [text, ...more, ...(fix === undefined ? [] : [`→ ${fix}`])];
  return `${level}: ${parts.join(' ')}`.replaceAll(folder, '');
}

function asRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Mode and content, but no time: SQLite sets that of the folder when it opens a ledger to read it. */
function contentOf(path: string): string {
  const stats = statSync(path);
  const content = stats.isFile() ? readFileSync(path, 'hex') : '';
  return `${path} ${stats.mode} ${content}`;
}

describe('node and the build', () => {
  test.each([
    ['20.19.0', 'ok: Node 20.19.0'],
    ['24.1.0', 'ok: Node 24.1.0'],
    ['20.18.3', 'broken: Node 20.18.3 is too old → Install Node 20.19 or newer.'],
    ['18.20.0', 'broken: Node 18.20.0 is too old → Install Node 20.19 or newer.'],
  ])('Node %s is judged by its version', async (version, said) => {
    expect(await found(checkNode, { ...machine, versions: { node: version, sub: '1' } })).toBe(
      said,
    );
  });

  test('the build is whole when its parts stand beside the launcher', async () => {
    const launcher = put(join(folder, 'bin', 'sub.mjs'), '');
    const on = { ...machine, launcher };
    expect(await found(checkBuild, on)).toMatch(/^broken: .* sub\.js, shim\.js, hook\.js missing/);
    put(join(folder, 'dist', 'sub.js'), '');
    put(join(folder, 'dist', 'shim.js'), '');
    put(join(folder, 'dist', 'hook.js'), '');
    expect(await found(checkBuild, on)).toBe('ok: sub 0.1.0');
  });

  test('variables that change every Node are named, without their values', async () => {
    expect(await found(checkEnvironment)).toMatch(/^ok/);
    const env = { NODE_EXTRA_CA_CERTS: '/secret/ca.pem', NODE_OPTIONS: '--inspect' };
    const said = await found(checkEnvironment, await machineIn(folder, env));
    expect(said).toMatch(/^warn: NODE_EXTRA_CA_CERTS is set.*NODE_OPTIONS is set.*→ Unset/);
    expect(said).not.toMatch(/secret|inspect/);
  });
});

describe('the home', () => {
  test('the home need not exist yet', async () => {
    expect(await found(checkHome)).toMatch(/^ok: .* is not there yet/);
    expect(await found(checkFiles)).toMatch(/^ok: 0 private/);
  });

  test.each([
    [0o700, /^ok: \/home$/],
    [0o750, /^warn: \/home can be looked into by others → Run: chmod 700 \/home$/],
    [0o770, /^broken: \/home can be written to by others → Run: chmod 700/],
  ])('a home with mode %o is judged by its permissions', async (mode, said) => {
    mkdirSync(machine.paths.home, { mode });
    chmodSync(machine.paths.home, mode);
    expect(await found(checkHome)).toMatch(said);
  });

  test.skipIf(asRoot())('that cannot be made is broken', async () => {
    chmodSync(folder, 0o500);
    expect(await found(checkHome)).toMatch(
      /^broken: .* cannot be written to \(EACCES\) → .*SUB_HOME/,
    );
    chmodSync(folder, 0o700);
  });

  test('a home whose parent is a file is broken', async () => {
    put(join(folder, 'file'), '');
    const on = await machineIn(folder, { SUB_HOME: join(folder, 'file', 'deep', 'home') });
    expect(await found(checkHome, on)).toMatch(/^broken: \/file is not a folder → /);
  });

  test.skipIf(asRoot())('that cannot be written to is broken', async () => {
    mkdirSync(machine.paths.home, { mode: 0o500 });
    expect(await found(checkHome)).toMatch(/^broken: .* cannot be written to \(EACCES\)/);
    chmodSync(machine.paths.home, 0o700);
  });

  test('a home that is a file is broken', async () => {
    put(machine.paths.home, '');
    expect(await found(checkHome)).toMatch(/^broken: \/home is not a folder/);
  });

  test('files that others can read are named; a readable key is broken', async () => {
    put(machine.paths.ledger, '', 0o600);
    expect(await found(checkFiles)).toMatch(/^ok: 1 private/);
    chmodSync(machine.paths.ledger, 0o644);
    expect(await found(checkFiles)).toMatch(/^warn: \/home\/ledger\.db: .*→ Run: chmod go= /);
    put(machine.paths.ledgerKey, '', 0o600);
    chmodSync(machine.paths.ledgerKey, 0o640);
    expect(await found(checkFiles)).toMatch(/^broken: .*ledger\.key/);
    chmodSync(machine.paths.ledgerKey, 0o600);
    chmodSync(put(join(machine.paths.home, 'vault.key'), ''), 0o644);
    expect(await found(checkFiles)).toMatch(/^broken: .*vault\.key/);
  });

  test('the disk check reports the free space', async () => {
    expect(await found(checkDisk)).toMatch(/^(?:ok|warn): .* free for the ledger/);
  });
});

describe('the configuration', () => {
  test('the configuration may be missing', async () => {
    expect(await found(checkConfig)).toBe('ok: no config.toml, 0 settings other than the default');
  });

  test('a broken configuration is reported with all of its problems', async () => {
    put(machine.paths.config, 'profile = "x"\nnonsense = 1\n');
    const said = await found(checkConfig, await machineIn(folder));
    expect(said).toMatch(/^broken: the configuration has 2 problems/);
    expect(said).toContain('config.toml:1:1');
    expect(said).toContain('unknown key `nonsense`');
  });
});

describe('the policy', () => {
  const POLICY = [
    'policy_id: team',
    'version: "1.0.0"',
    'mode: guardrails',
    'defaults: { decision_on_error: BLOCK }',
    'selectors: {}',
    'rules: []',
    '',
  ].join('\n');
  const rule = (rule_id: string) =>
    `  - { rule_id: ${rule_id}, kind: deny, enabled: true, match: { tool_name: { glob: [x] } }, effect: { action: BLOCK, reason_code: NO }, severity: warn }\n`;

  test('a missing policy is a warning, because every call passes', async () => {
    expect(await found(checkPolicy)).toMatch(
      /^warn: there is none: every call passes and is recorded → Write one: sub init$/,
    );
  });

  test('the policy is reported with its hash and its mode', async () => {
    put(join(machine.cwd, 'policy.yaml'), POLICY);
    const said = await found(checkPolicy);
    expect(said).toMatch(
      /: \/user\/project\/policy\.yaml \(of the project\), team 1\.0\.0, hash [0-9a-f]{12}…, mode guardrails, 0 rules/,
    );
  });

  test('an untrusted policy that would need trust to hold as it is says so', async () => {
    put(join(machine.cwd, 'policy.yaml'), POLICY.replace('guardrails', 'observe'));
    expect(await found(checkPolicy)).toContain('(of the project, not trusted)');
  });

  test('the policy of an untrusted project is reported as tightening that of the user', async () => {
    put(join(machine.paths.home, 'policy.yaml'), POLICY.replace('team', 'mine'));
    put(join(machine.cwd, 'policy.yaml'), POLICY);
    const said = await found(checkPolicy);
    expect(said).toMatch(/^warn: \/home\/policy\.yaml \(of the user\), mine 1\.0\.0, /);
    expect(said).toContain(
      '; it is only tightened by /user/project/policy.yaml, which is not trusted',
    );
    expect(said).toContain('→ To let it hold instead: sub trust /user/project/policy.yaml');
  });

  test('a policy outside of the home of the user is reported as unused', async () => {
    put(join(folder, 'tmp', 'policy.yaml'), POLICY);
    const said = await found(checkPolicy, { ...machine, cwd: join(folder, 'tmp') });
    expect(said).toMatch(
      /^warn: there is none: \/tmp\/policy\.yaml is not used, since \/tmp is outside of \/user → To use it, add: --policy \/tmp\/policy\.yaml, or `path` under \[policy\] in config\.toml/,
    );
  });

  test('an unused policy is reported beside that of the user', async () => {
    put(join(machine.paths.home, 'policy.yaml'), POLICY.replace('team', 'mine'));
    put(join(folder, 'tmp', 'policy.yaml'), POLICY);
    const said = await found(checkPolicy, { ...machine, cwd: join(folder, 'tmp') });
    expect(said).toMatch(
      /^warn: \/home\/policy\.yaml \(of the user\), mine 1\.0\.0, .*; \/tmp\/policy\.yaml is not used, since \/tmp is outside of \/user → To use it, add: --policy \/tmp\/policy\.yaml/,
    );
  });

  test('a policy in a folder that others can write to is reported with the command that helps', async () => {
    put(join(machine.cwd, 'policy.yaml'), POLICY);
    chmodSync(machine.cwd, 0o777);
    expect(await found(checkPolicy)).toMatch(/→ To use it, run: chmod go-w \/user\/project$/);
  });

  test('an edited trust store is reported', async () => {
    put(join(machine.cwd, 'policy.yaml'), POLICY);
    put(join(machine.paths.home, 'trust.json'), '{"version":1,"trusted":[]}');
    expect(await found(checkPolicy)).toMatch(/^warn: .*trust\.json is not signed.*→ Remove /);
  });

  test('the policy of the configuration wins over a policy that is found', async () => {
    put(join(machine.cwd, 'policy.yaml'), POLICY);
    const other = put(join(folder, 'other.yaml'), POLICY.replace('team', 'other'));
    const said = await found(checkPolicy, await machineIn(folder, { SUB_POLICY: other }));
    expect(said).toContain('/other.yaml (as configured), other 1.0.0');
  });

  test('a policy with errors is broken', async () => {
    put(join(machine.cwd, 'policy.yaml'), 'policy_id: team\n');
    expect(await found(checkPolicy)).toMatch(
      /^broken: .*policy\.yaml has \d errors?\..*policy lint/,
    );
  });

  test('a policy with warnings is reported with the command that shows them', async () => {
    const text = `${POLICY.replace(' []', '')}${rule('a')}${rule('b')}`;
    put(join(machine.cwd, 'policy.yaml'), text);
    expect(await found(checkPolicy)).toMatch(
      /^warn: .* 2 rules, \d warnings? → See: sub policy lint/,
    );
  });
});

describe('secrets that are bound to servers', () => {
  const bindings = (...lines: readonly string[]) =>
    `[[servers.hub.secret_bindings]]\n${lines.join('\n')}\n`;
  const FILE = bindings('inject_as = "TOKEN"', 'secret_ref = "hub_token"', 'source = "file"');
  const ENV = bindings('inject_as = "KEY"', 'secret_ref = "hub_key"', 'source = "env"');

  test('no secret need be bound', async () => {
    expect(await found(checkSecrets)).toBe('ok: none is bound to a server');
  });

  test('secrets in a file that is missing or open to others are broken', async () => {
    put(machine.paths.config, FILE);
    const on = await machineIn(folder);
    const path = join(machine.paths.home, 'secrets', 'hub_token');
    expect(await found(checkSecrets, on)).toMatch(
      /^broken: 1 of 1 secret cannot be given hub: secret `hub_token` for TOKEN: .* does not exist\..*\[SUB_SECRET_MISSING\] → /,
    );
    put(path, 'hunter2-hunter2');
    chmodSync(path, 0o644);
    const said = await found(checkSecrets, on);
    expect(said).toMatch(/^broken: .* has mode 0644, .*chmod 600 .*\[SUB_SECRET_UNUSABLE\]/);
    expect(said).not.toContain('hunter2');
    chmodSync(path, 0o600);
    expect(await found(checkSecrets, on)).toBe('ok: 1 secret can be given');
  });

  test('secrets for one command are tried with that command', async () => {
    const command = 'command = ["npx", "-y", "server-hub"]';
    const other = FILE.replace('"TOKEN"', '"OTHER"');
    put(machine.paths.config, `${FILE}${command}\n${other}command = ["node", "hub.js"]\n`);
    put(join(machine.paths.home, 'secrets', 'hub_token'), 'hunter2-hunter2');
    expect(await found(checkSecrets, await machineIn(folder))).toBe('ok: 2 secrets can be given');
  });

  test('secrets that the store lacks are broken; those of a service may exist elsewhere', async () => {
    const stored = bindings('inject_as = "A"', 'secret_ref = "sub://gone"');
    put(machine.paths.config, stored);
    expect(await found(checkSecrets, await machineIn(folder))).toMatch(
      /^broken: 1 of 1 secret cannot be given hub: secret `gone` for A: the store has no such secret/,
    );
    put(machine.paths.config, bindings('inject_as = "A"', 'secret_ref = "vault://kv/x#y"'));
    expect(await found(checkSecrets, await machineIn(folder))).toMatch(
      /^warn: 1 of 1 secret .*from here/,
    );
  });

  test('secrets in a variable that is not set here are a warning', async () => {
    put(machine.paths.config, FILE + ENV);
    put(join(machine.paths.home, 'secrets', 'hub_token'), 'hunter2-hunter2');
    expect(await found(checkSecrets, await machineIn(folder))).toMatch(
      /^warn: 1 of 2 secrets cannot be given from here hub: secret `hub_key` for KEY: /,
    );
    const set = await machineIn(folder, { HUB_KEY: 'hunter3-hunter3' });
    expect(await found(checkSecrets, set)).toBe('ok: 2 secrets can be given');
  });
});

describe('the ledger', () => {
  async function made(): Promise<void> {
    mkdirSync(machine.paths.home, { mode: 0o700 });
    const key = await makeLedger(machine.paths.ledger, [runStart(), end()]);
    put(machine.paths.ledgerKey, key);
  }
  function tamper(sql: string): void {
    const db = new DatabaseSync(machine.paths.ledger);
    db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
    db.close();
  }

  test('the ledger need not exist yet', async () => {
    expect(await found(checkLedger)).toMatch(/^ok: there is none yet/);
    expect(await found(checkHead)).toMatch(/^ok: there is none yet/);
  });

  test('the ledger is reported with its size, its schema and its last head', async () => {
    await made();
    expect(await found(checkLedger)).toMatch(/^ok: \/home\/ledger\.db, 2 events, [\d.]+ KB$/);
    expect(await found(checkHead)).toMatch(/^ok: head \d covers event 2, 0 events came after it$/);
  });

  test('a ledger that is no database is broken', async () => {
    put(
      machine.paths.ledger,
      'this is not a database, but long enough to be taken for one'.repeat(9),
    );
    expect(await found(checkLedger)).toMatch(/^broken: .*\[SUB_LEDGER_/);
  });

  test('a ledger whose last event was changed is broken', async () => {
    await made();
    tamper('UPDATE events SET hash = zeroblob(32) WHERE seq = 2');
    expect(await found(checkHead)).toMatch(
      /^broken: event 2 is not the one that was signed → .*verify/,
    );
  });

  test('a ledger whose key is gone is broken, because nobody can write to it', async () => {
    await made();
    rmSync(machine.paths.ledgerKey);
    expect(await found(checkHead)).toMatch(
      /^broken: \/home\/ledger\.key is missing.*→ Put the key back/,
    );
    put(machine.paths.ledgerKey, 'no key');
    expect(await found(checkHead)).toMatch(
      /^broken: \/home\/ledger\.key holds no .*SUB_SNAPSHOT_KEY/,
    );
  });

  test('a head that is missing, unreadable or of another ledger is reported', async () => {
    await made();
    const path = join(machine.paths.home, 'ledger.head');
    writeFileSync(path, 'x');
    expect(await found(checkHead)).toMatch(/^broken: .*ledger\.head cannot be read/);
    rmSync(path);
    expect(await found(checkHead)).toMatch(/^warn: .*ledger\.head is missing/);
    const other = join(folder, 'other.db');
    await makeLedger(other, [end()]);
    writeFileSync(path, readFileSync(join(folder, 'other.head')));
    expect(await found(checkHead)).toMatch(/^broken: .* belongs to another ledger/);
  });
});

describe('the daemon', () => {
  async function listen(answer: string): Promise<void> {
    mkdirSync(machine.paths.run, { recursive: true, mode: 0o700 });
    const server = createServer((link) => {
      link.on('error', () => undefined);
      link.on('data', () => link.end(answer));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(machine.paths.socket, resolve));
  }

  test('the daemon need not run', async () => {
    expect(await found(checkDaemon)).toMatch(/^ok: not running/);
    expect(await found(checkSocket)).toMatch(/^ok: .*ledger\.sock is free$/);
  });

  test('a daemon of another version is a warning', async () => {
    const status = {
      pid: 7,
      version: '9.9.9',
      started_at: new Date(machine.nowMs - 7_200_000).toISOString(),
      connections: 0,
      events_committed: 0,
    };
    await listen(`${JSON.stringify({ ok: true, status })}\n`);
    expect(await found(checkDaemon)).toBe(
      'warn: runs as 7 for 2 h, 0 connections, version 9.9.9, but this is 0.1.0 → Stop it with `sub ledgerd --stop`; the next shim starts the new one.',
    );
    expect(await found(checkSocket)).toMatch(/^ok: .* is in use$/);
  });

  test('a process that does not answer as a daemon is broken', async () => {
    await listen('hello\n');
    expect(await found(checkDaemon)).toMatch(
      /^broken: something listens on .* not answer as a ledger/,
    );
  });

  test('the socket of a daemon that is gone is a warning', async () => {
    mkdirSync(machine.paths.run, { recursive: true, mode: 0o700 });
    const script = `require('net').createServer().listen(${JSON.stringify(machine.paths.socket)}, () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
    expect(await found(checkSocket)).toMatch(/^warn: .* was left by a daemon that is gone/);
    expect(await found(checkDaemon)).toMatch(/^ok: not running/);
  });

  test('a daemon cannot listen on a file or on a path that is too long', async () => {
    put(machine.paths.socket, '');
    expect(await found(checkSocket)).toMatch(/^broken: .* is no socket/);
    const deep = await machineIn(folder, { SUB_HOME: join(folder, 'x'.repeat(100)) });
    expect(deep.loaded.ok).toBe(false);
    expect(await found(checkSocket, deep)).toMatch(/^broken: .* bytes, a socket may have 103/);
  });
});

describe('what is left over', () => {
  const HOUR_MS = 3_600_000;
  function aged(path: string, ageMs: number): void {
    const seconds = (machine.nowMs - ageMs) / 1_000;
    put(path, 'x'.repeat(2_048));
    utimesSync(path, seconds, seconds);
  }

  test('a file that has waited in the spool for long is a warning', async () => {
    expect(await found(checkSpool)).toBe('ok: nothing waits for the ledger');
    aged(join(machine.paths.spool, 'a-1.jsonl'), 60_000);
    aged(join(machine.paths.spool, 'notes.txt'), 60_000);
    expect(await found(checkSpool)).toMatch(
      /^ok: 1 file \(2\.0 KB\) for the ledger, the oldest 1 min/,
    );
    aged(join(machine.paths.spool, 'a-2.jsonl.77.part'), 5 * HOUR_MS);
    expect(await found(checkSpool)).toMatch(
      /^warn: 2 files \(4\.0 KB\) .* oldest 5 h old → Run: sub ingest \/home\/spool$/,
    );
  });

  test('a stale file of a run is a warning', async () => {
    aged(join(machine.paths.run, 'agent-999999999-1.json'), HOUR_MS);
    aged(join(machine.paths.run, `agent-${process.pid}-1.json`), 50 * HOUR_MS);
    expect(await found(checkRunFiles)).toBe('ok: 2 files of runs, none is stale');
    aged(join(machine.paths.run, 'hub-0123456789abcdef.sock'), 50 * HOUR_MS);
    expect(await found(checkRunFiles)).toMatch(/^warn: 1 file of runs that are long over/);
  });
});

describe('all checks', () => {
  test('all checks give a fix with each problem', async () => {
    put(machine.paths.home, '');
    const all = await checkAll(await machineIn(folder));
    const wrong = all.filter(({ finding }) => finding.level !== 'ok');
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong.filter(({ finding }) => (finding.fix ?? '') === '')).toEqual([]);
  });

  test('the checks go on when one of them fails', async () => {
    const fails: Check = () => Promise.reject(new Error('oh no'));
    expect(await checkAll(machine, { fails, node: checkNode })).toMatchObject([
      { id: 'fails', finding: { level: 'broken', text: 'this could not be checked: oh no' } },
      { id: 'node', finding: { level: 'ok' } },
    ]);
  });

  test('a check names the file that the system did not let it read', async () => {
    const path = join(folder, 'nowhere');
    const fails: Check = async () => ok(String(statSync(path).size));
    const [checked] = await checkAll(machine, { fails });
    expect(checked?.finding).toMatchObject({
      level: 'broken',
      text: `this could not be checked: ${path} gives ENOENT`,
    });
    expect(checked?.finding.fix).toContain(path);
  });

  test('all checks together change nothing', async () => {
    mkdirSync(machine.paths.home, { mode: 0o700 });
    put(machine.paths.ledgerKey, await makeLedger(machine.paths.ledger, [end()]));
    // The -shm file is SQLite's memory between processes: a reader leaves its mark there.
    const seen = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => !name.endsWith('-shm'))
        .map((name) => contentOf(join(folder, name)))
        .toSorted();
    const before = seen();
    await checkAll(await machineIn(folder));
    expect(seen()).toEqual(before);
  });

  test('all checks are documented', async () => {
    const docs = readFileSync(join(ROOT, 'docs/reference/cli.md'), 'utf8');
    const [, section = ''] = docs.split('\n## sub doctor\n');
    for (const id of Object.keys(CHECKS)) expect(section).toContain(`\`${id}\``);
  });
});

// Secrets that stand in plain text in the config of a client, moved into the store by the built
// `sub import`, used by a real server behind its shim, and put back by `sub restore`.
import { createHash } from 'node:crypto';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, SERVER } from './adopt-home.ts';
import { type Ended, ensureBuilt, HAS_TERMINAL } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const TOKEN = ['ghp', '_', 'x7Kq2mN9pR4sT6vW8yZ1bC3dF5gH7jL9qX2a'].join('');
const PASSWORD = 'Hk3-vQ9wLm2Zt8';
/** Writes a digest of its environment down before it starts. */
const TELL = `const { GITHUB_TOKEN, DB_PASSWORD, MODE, TOLD } = process.env;
const hash = require('node:crypto').createHash('sha256').update([GITHUB_TOKEN, DB_PASSWORD, MODE].join());
require('node:fs').writeFileSync(TOLD, hash.digest('hex'));
import(process.argv[1]);`;
const TELLING = { command: SERVER.command, args: ['-e', TELL, ...SERVER.args] };
const NAME = 'claude-code.files.GITHUB_TOKEN';
const POLICY = 'policy_id: p\nversion: "1"\nmode: guardrails\nrules: []\n';

interface Planted {
  readonly mcpServers: { readonly files: { readonly env: object } };
}

function planted(): string {
  const env = { GITHUB_TOKEN: TOKEN, MODE: 'read', DB_PASSWORD: PASSWORD, REF: `\${GITHUB_TOKEN}` };
  return machine.servers({ files: { ...TELLING, env: { ...env, TOLD: told() } } });
}

function told(): string {
  return join(machine.folder, 'told');
}

function digestOf(values: readonly string[]): string {
  return createHash('sha256').update(values.join()).digest('hex');
}

/** As they are, in hex, and in Base64 at each of its three offsets. */
function shapesOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((count) =>
    Buffer.concat([Buffer.alloc(count), bytes])
      .toString('base64')
      .slice(4, 16),
  );
  return [secret, bytes.toString('hex'), ...shifted];
}

function expectNowhere(text: string): void {
  for (const shape of [TOKEN, PASSWORD].flatMap(shapesOf)) expect(text).not.toContain(shape);
}

/** Every byte in the homes of the user, of the project and of sub. */
function everything(): string {
  return readdirSync(machine.folder, { recursive: true })
    .map((name) => join(machine.folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

function said({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}

/** What the server was started with, as a digest: what it says itself may be redacted on its way. */
async function startedWith(): Promise<string> {
  const { mcpServers } = JSON.parse(machine.read()) as {
    mcpServers: { files: { command: string; args: string[]; env: { [name: string]: string } } };
  };
  const { command, args, env } = mcpServers.files;
  const client = new Client({ name: 'test', version: '1.0.0' });
  const all = { ...machine.env, PATH: process.env['PATH'] ?? '', ...env };
  await client.connect(
    new StdioClientTransport({ command, args, env: all, cwd: '/', stderr: 'ignore' }),
  );
  try {
    await client.callTool({ name: 'get-env', arguments: {} });
    return machine.read(told());
  } finally {
    await client.close();
  }
}

test('a secret of a governed server moves, and that is not called nothing', async () => {
  planted();
  await machine.sub('import', 'claude', '--keep-secrets', '--yes');
  const planned = await machine.sub('import', 'claude', '--move-secrets', '--dry-run');
  expect(planned.stdout).toContain('to the store: GITHUB_TOKEN');
  const moved = await machine.sub('import', 'claude', '--move-secrets', '--yes');
  expect(moved.stdout).toContain('2 secrets come from the store');
  expect(planned.stdout + moved.stdout).not.toContain('Nothing to do.');
});

test('a secret moves, its server still gets it, and no byte of it is left in plain text', async () => {
  verifies('SL-13', 'T-F');
  const before = planted();
  const moved = await machine.sub('import', 'claude', '--move-secrets', '--yes');
  expect(moved).toMatchObject({ code: 0 });
  expectNowhere(said(moved));
  expect(moved.stdout).toContain(`to the store: GITHUB_TOKEN of files, as ${NAME}`);
  expect(moved.stdout).toMatch(/^-.*"GITHUB_TOKEN": "…",$/m);
  expect(moved.stdout).toContain('2 secrets come from the store');
  expect(JSON.parse(machine.read())).toMatchObject({
    mcpServers: { files: { env: { MODE: 'read', REF: `\${GITHUB_TOKEN}` } } },
  });
  expectNowhere(everything());
  expect(await startedWith()).toBe(digestOf([TOKEN, PASSWORD, 'read']));
  // Also not in what was recorded of the call that asked for them.
  await machine.sub('query', '--json');
  expectNowhere(everything());
  const status = await machine.sub('status');
  expect(status.stdout).toMatch(/files +governed, .*2 secrets from the store/);
  const json: unknown = JSON.parse((await machine.sub('status', '--json')).stdout);
  expect(json).toMatchObject({ files: [{ servers: [{ secrets_from_store: 2 }] }] });
  const restored = await machine.sub('restore', 'claude', '--yes');
  expect(restored.code).toBe(0);
  expectNowhere(said(restored));
  expect(restored.stdout).toContain('back in plain text');
  expect(machine.read()).toBe(before);
  expect(existsSync(join(machine.subHome, 'config.toml'))).toBe(false);
});

test.each([
  ['--yes alone', ['--yes'], '--move-secrets moves them'],
  ['--keep-secrets', ['--yes', '--keep-secrets'], ''],
])('%s moves none', async (_, flags, words) => {
  planted();
  const { code, stdout, stderr } = await machine.sub('import', 'claude', ...flags);
  expect(code).toBe(0);
  expectNowhere(stdout + stderr);
  expect(stderr).toContain(words);
  expect(stderr.includes('--move-secrets')).toBe(words !== '');
  expect(machine.read()).toContain(TOKEN);
  expect(existsSync(join(machine.subHome, 'vault.db'))).toBe(false);
});

test('a dry run shows what would move, and makes nothing', async () => {
  const before = planted();
  const flags = ['--move-secrets', '--dry-run', '--json'];
  const { code, stdout, stderr } = await machine.sub('import', 'claude', ...flags);
  expect(code).toBe(0);
  expectNowhere(stdout + stderr);
  expect(JSON.parse(stdout)).toMatchObject({
    files: [
      {
        applied: false,
        secrets: [
          { server: 'files', variable: 'GITHUB_TOKEN', secret: NAME },
          { server: 'files', variable: 'DB_PASSWORD' },
        ],
      },
    ],
  });
  expect(machine.read()).toBe(before);
  expect(existsSync(machine.subHome)).toBe(false);
});

test('both wishes at once are refused', async () => {
  planted();
  const { code, stderr } = await machine.sub(
    'import',
    'claude',
    '--move-secrets',
    '--keep-secrets',
  );
  expect(code).toBe(2);
  expect(stderr).toContain('say the opposite');
});

test('a restore whose secret is gone from the store says how, and changes nothing', async () => {
  const before = planted();
  await machine.sub('import', 'claude', '--move-secrets', '--yes');
  const governed = machine.read();
  expect((await machine.sub('secrets', 'remove', NAME, '--yes')).code).toBe(0);
  const { code, stderr } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain(`\`sub secrets add ${NAME}\``);
  expect(stderr).toContain('[SUB_SECRET_UNKNOWN]');
  expect(machine.read()).toBe(governed);
  expect(machine.read()).not.toBe(before);
});

test('a config that cannot be changed keeps its secrets, and its server no binding', async () => {
  const before = planted();
  linkSync(machine.config, `${machine.config}.second`);
  const { code, stderr } = await machine.sub('import', 'claude', '--move-secrets', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain('hard links');
  expect(machine.read()).toBe(before);
  expect(existsSync(join(machine.subHome, 'config.toml'))).toBe(false);
});

test('a config that was deleted is forgotten, and its secrets are named', async () => {
  planted();
  await machine.sub('import', 'claude', '--move-secrets', '--yes');
  rmSync(machine.config);
  const { code, stdout } = await machine.sub('restore', 'claude', '--forget');
  expect(code).toBe(0);
  expect(stdout).toContain(`The store still has ${NAME}`);
  expectNowhere(everything());
});

test('shims that were taken out by hand: the secrets still come back, and no `sub wrap` forgets them', async () => {
  planted();
  await machine.sub('import', 'claude', '--move-secrets', '--yes');
  const bare = machine.servers({ files: { ...TELLING, env: { MODE: 'read' } } });
  const wrapped = await machine.wrap(['--config-path', machine.config]);
  expect(wrapped.code).not.toBe(0);
  expect(wrapped.stderr).toContain('sub restore');
  expect(machine.read()).toBe(bare);
  expect((await machine.sub('restore', 'claude', '--yes')).code).toBe(0);
  const { mcpServers: back } = JSON.parse(machine.read()) as Planted;
  expect(back.files.env).toMatchObject({ GITHUB_TOKEN: TOKEN, DB_PASSWORD: PASSWORD });
});

describe('a store that cannot be opened', () => {
  async function lockOut(): Promise<void> {
    await machine.sub('import', 'claude', '--move-secrets', '--yes');
    await machine.sub('restore', 'claude', '--yes');
    rmSync(join(machine.subHome, 'vault.key'));
  }

  test('moves nothing, and imports nothing either unless it is told to', async () => {
    const before = planted();
    await lockOut();
    const refused = await machine.sub('import', 'claude', '--move-secrets', '--yes');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('no secret can be moved');
    expect(refused.stderr).toContain('--keep-secrets imports without moving any');
    expect(refused.stderr).toContain('[SUB_VAULT_KEY]');
    expect(machine.read()).toBe(before);
    const kept = await machine.sub('import', 'claude', '--keep-secrets', '--yes');
    expect(kept.code).toBe(0);
    expect(machine.read()).toContain(TOKEN);
    expectNowhere(said(refused) + said(kept));
  });
});

/** Copies as clients and editors make them, and files that are none. */
function plantedCopies(): {
  readonly copies: readonly string[];
  readonly others: readonly string[];
} {
  const text = planted();
  const copies = [
    '.claude.json.backup',
    '.claude.json.backup.1769596532941',
    '.claude.json~',
    '.claude/backups/.claude.json.backup.1769596532941',
    '.claude/file-history/session/0a1b@v1',
    '.config/Code/User/History/-1a2b/Xyz1.json',
  ].map((name) => join(machine.home, name));
  const others = [
    [join(machine.home, '.claude.json.old'), '{}'],
    [join(machine.home, 'notes.txt'), text],
    [join(machine.home, 'work.claude.json'), text],
    [join(machine.home, '.claude.json.template'), text],
    [join(machine.home, '.cursor', 'mcp.json'), text],
  ] as const;
  for (const path of copies) machine.write(path, text);
  for (const [path, content] of others) machine.write(path, content);
  return { copies: copies.toSorted(), others: others.map(([path]) => path) };
}

describe('other copies of the config that hold what moved', () => {
  test('are named and stay, with --yes and with --dry-run', async () => {
    const { copies } = plantedCopies();
    const dry = await machine.sub('import', 'claude', '--move-secrets', '--dry-run');
    const moved = await machine.sub('import', 'claude', '--move-secrets', '--yes', '--json');
    for (const { code, stderr } of [dry, moved]) {
      expect(code).toBe(0);
      expect(stderr).toContain('in plain text in 6 other copies:');
      for (const path of copies) expect(stderr).toContain(`\n  ${path}\n`);
    }
    expect(moved.stderr).toContain('--remove-copies');
    const document = JSON.parse(moved.stdout) as { readonly copies: unknown };
    expect(document.copies).toEqual(copies.map((path) => ({ path, removed: false })));
    expect(copies.every((path) => existsSync(path))).toBe(true);
    expectNowhere(said(dry) + said(moved));
  });

  test('go with --remove-copies, and nothing else does', async () => {
    const { copies, others } = plantedCopies();
    const words = ['import', 'claude', '--move-secrets', '--remove-copies', '--yes'];
    const { code, stdout, stderr } = await machine.sub(...words);
    expect(code).toBe(0);
    expect(copies.filter((path) => existsSync(path))).toEqual([]);
    expect(others.every((path) => existsSync(path))).toBe(true);
    expectNowhere(stdout + stderr);
  });
});

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  const typed = (args: string, answers: readonly (readonly [string, string])[]) =>
    machine.typed(args, answers);

  beforeEach(() => {
    // Without a policy, `sub import` would offer one first.
    machine.write(join(machine.project, 'policy.yaml'), POLICY);
  });

  test('it is asked, and then the change is shown and asked for', async () => {
    planted();
    const shown = await typed('import claude --no-hooks', [
      ['Move 2 secrets into the encrypted store?', 'y'],
      ['Change this file of Claude Code?', 'y'],
    ]);
    expectNowhere(shown);
    expect(shown).toContain('in plain text: GITHUB_TOKEN of files (github-token)');
    expectNowhere(everything());
  });

  test('the removal of other copies is asked for', async () => {
    const { copies } = plantedCopies();
    const shown = await typed('import claude --no-hooks', [
      ['Move 2 secrets into the encrypted store?', 'y'],
      ['Change this file of Claude Code?', 'y'],
      ['Remove 6 files for good?', 'y'],
    ]);
    expectNowhere(shown);
    expect(copies.filter((path) => existsSync(path))).toEqual([]);
  });

  test('no leaves them where they are, and imports', async () => {
    planted();
    const shown = await typed('import claude --no-hooks', [
      ['Move 2 secrets into the encrypted store?', 'n'],
      ['Change this file of Claude Code?', 'y'],
    ]);
    expectNowhere(shown);
    expect(machine.read()).toContain(TOKEN);
    expect(machine.read()).toContain('"shim"');
  });

  test.each([
    ['y', true],
    ['n', false],
  ])('without a store, %s decides whether it goes on', async (answer, isImported) => {
    planted();
    await machine.sub('import', 'claude', '--move-secrets', '--yes');
    await machine.sub('restore', 'claude', '--yes');
    writeFileSync(join(machine.subHome, 'vault.db'), 'torn', { mode: 0o600 });
    const shown = await typed('import claude --no-hooks', [
      ['Move 2 secrets into the encrypted store?', 'y'],
      ['Import without moving secrets?', answer],
      ...(isImported ? [['Change this file of Claude Code?', 'y'] as const] : []),
    ]);
    expect(shown).toContain('no secret can be moved');
    expect(machine.read().includes('"shim"')).toBe(isImported);
    expect(machine.read()).toContain(TOKEN);
    expectNowhere(shown);
  });
});

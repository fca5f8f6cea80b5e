// `sub gateway init` and `sub gateway check` on real folders.
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
import { openGatewayStore } from '@subluminal/gateway/store';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sampleAudit, sampleRecord } from '../../packages/gateway/store/testing/sample-rows.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT } from './sub.ts';

let folder: string;
let env: { [name: string]: string };
beforeAll(() => ensureBuilt());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-cli-gateway-'));
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SUB_HOME: join(folder, 'sub'),
    SUB_RUN_ID: '',
    ANTHROPIC_API_KEY: 'a-key-for-tests',
    OPENAI_API_KEY: 'another-key-for-tests',
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const gateway = (...args: readonly string[]) => askSub(['gateway', ...args], { cwd: folder, env });

/** Changes one file of the example that was written to `config`. */
function change(name: string, from: string, to: string): void {
  const path = join(folder, 'config', name);
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

describe('sub gateway init', () => {
  test('writes the whole example, and the check finds nothing wrong with it', async () => {
    const written = await gateway('init', 'config');
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(written.stdout).toContain('Wrote 9 files to config: ');
    expect(written.stdout).toContain('\n  sub gateway check config\n');
    const pools = join('pools.yaml');
    expect(readFileSync(join(folder, 'config', pools), 'utf8')).toBe(
      readFileSync(join(ROOT, 'examples/gateway', pools), 'utf8'),
    );
    const checked = await gateway('check', 'config');
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toBe('✔ config: 3 endpoints, 4 pools, 6 rules, 2 teams, no problems\n');
  });

  test('writes nothing when one of its files is there', async () => {
    mkdirSync(join(folder, 'config/identity'), { recursive: true });
    writeFileSync(join(folder, 'config/identity/users.yaml'), 'mine');
    const refused = await gateway('init', 'config');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /users\.yaml exists already.*nothing was written.*SUB_FILE_WRITE/s,
    );
    expect(readFileSync(join(folder, 'config/identity/users.yaml'), 'utf8')).toBe('mine');
    expect(() => readFileSync(join(folder, 'config/pools.yaml'))).toThrow('ENOENT');
  });

  test('says what is wrong with a folder that cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await gateway('init', 'file/config')).toMatchObject({ code: 2 });
  });
});

describe('sub gateway check', () => {
  beforeEach(async () => {
    await gateway('init', 'config');
  });

  test('shows every problem of every file with its line', async () => {
    change('pools.yaml', 'endpoint_id: local', 'endpoint_id: lokal');
    change('budgets.yaml', 'platform:', 'plattform:');
    change(
      'policies/main.yaml',
      'server_class.has_secret_finding\n    action: block',
      'server_clas.has_secret_finding\n    action: block',
    );
    const { code, stdout } = await gateway('check', 'config');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^config\/pools\.yaml:\d+:24: error: there is no endpoint `lokal`; did you mean `local`\? Write `local`\. \[SUB_GATEWAY_REFERENCE\]\n +\d+ \| .*lokal.*\n +\| +\^$/m,
    );
    expect(stdout).toMatch(
      /^config\/budgets\.yaml:\d+:3: error: there is no team `plattform`; did you mean/m,
    );
    expect(stdout).toMatch(
      /^config\/policies\/main\.yaml:\d+:\d+: error: .*SUB_GATEWAY_CONDITION/m,
    );
    expect(stdout).toMatch(/^config: 3 errors\n$/m);
  });

  test('prints one document with --json', async () => {
    change('pools.yaml', 'weight: 70', 'weight: 0');
    const { code, stdout } = await gateway('check', '--json', 'config');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      dir: 'config',
      ok: false,
      version: null,
      problems: [{ level: 'error', code: 'SUB_GATEWAY_VALUE', file: 'pools.yaml' }],
      summary: { errors: 1, warnings: 0 },
    });
  });

  test('a secret that is not here is a warning, which fails with --strict', async () => {
    env = { ...env, OPENAI_API_KEY: '' };
    const checked = await gateway('check', 'config');
    expect(checked.code).toBe(0);
    expect(checked.stdout).toContain('warning: `env://OPENAI_API_KEY` cannot be resolved');
    expect(checked.stdout).toMatch(/, 1 warning\n$/);
    expect(await gateway('check', '--strict', 'config')).toMatchObject({ code: 1 });
  });

  test('finds a secret in the encrypted store', async () => {
    change('pools.yaml', 'env://OPENAI_API_KEY', 'vault://openai');
    const missing = await gateway('check', 'config');
    expect(missing.stdout).toContain(
      '`vault://openai` cannot be resolved: the store has no such secret.',
    );
    const added = await askSub(['secrets', 'add', 'openai', '--protect', 'file'], {
      cwd: folder,
      env,
      input: 'a-key-in-the-store\n',
    });
    expect(added).toMatchObject({ code: 0 });
    expect(await gateway('check', '--strict', 'config')).toMatchObject({ code: 0 });
  });

  const KEY = `sk-ant-api03-${'Ab1-'.repeat(23)}xQ-AAAAAAAA`;

  test.each([
    ['a key where a reference is due', 'env://OPENAI_API_KEY', KEY],
    ['a password that no scanner knows', 'env://OPENAI_API_KEY', 'hunter2-hunter2'],
    ['a key behind a comment of its own', 'data_residency: us', `region: us # ${KEY}`],
    [
      'a password beside another mistake',
      'key_ref: env://OPENAI_API_KEY',
      '"key_ref": hunter2-hunter2',
    ],
  ])('%s is never printed', async (_, from, to) => {
    change('pools.yaml', from, to);
    for (const flags of [[], ['--json']]) {
      const { code, stdout, stderr } = await gateway('check', ...flags, 'config');
      expect(code).toBe(1);
      expect(stdout + stderr).not.toMatch(/hunter2|Ab1-Ab1/);
    }
  });

  test('a folder that others can write to is a warning', async () => {
    chmodSync(join(folder, 'config/pools.yaml'), 0o666);
    const { stdout } = await gateway('check', 'config');
    expect(stdout).toMatch(/warning: .*pools\.yaml can be written to by others.*SUB_FILE_UNSAFE/);
  });

  test('a folder that is not there is no finding but a failure', async () => {
    const { code, stdout, stderr } = await gateway('check', 'none');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('SUB_FILE_READ');
  });
});

describe('sub gateway orphans', () => {
  beforeEach(async () => {
    await gateway('init', 'config');
  });

  /** Turns of these users, teams and repositories, in the database of the gateway. */
  async function recordTurns(
    turns: readonly { userId: string; teamId: string; repoId: string | null }[],
  ): Promise<void> {
    mkdirSync(join(folder, 'sub'), { recursive: true, mode: 0o700 });
    const store = await openGatewayStore({ database: join(folder, 'sub/gateway.db') });
    for (const [index, turn] of turns.entries()) {
      const traceId = `0189b2d0-0000-7000-8000-00000000000${index}`;
      const row = { ...turn, traceId, tenantId: 'default', eventMs: Date.now() - 1_000 };
      await store.records.write(sampleRecord({ audit: [sampleAudit(row)] }));
    }
    await store.close();
  }

  const KNOWN = { userId: 'ada', teamId: 'platform', repoId: 'website' };

  test('lists who the configuration does not know', async () => {
    await recordTurns([
      KNOWN,
      { ...KNOWN, userId: 'mallory' },
      { ...KNOWN, userId: 'mallory', repoId: 'shop\u001b[2J' },
      { ...KNOWN, repoId: null },
    ]);
    const { code, stdout, stderr } = await gateway('orphans', 'config');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^KIND {2}ID +TURNS {2}LAST$/m);
    expect(stdout).toMatch(/^user {2}mallory +2 {2}\d{4}-/m);
    expect(stdout).toMatch(/^repo {2}shop.*1 {2}\d{4}-/m);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toMatch(/ada|website|platform/);
    const json = await gateway('orphans', 'config', '--from', '1h', '--json');
    const user = { kind: 'user', value: 'mallory', traces: 2 };
    expect(JSON.parse(json.stdout)).toMatchObject({ orphans: [user, { kind: 'repo' }] });
  });

  test('says so when there are none', async () => {
    await recordTurns([KNOWN]);
    expect(await gateway('orphans', 'config')).toMatchObject({
      code: 0,
      stdout: 'No turns of unknown users, teams or repositories.\n',
    });
  });

  test('makes no database, and says where it looked', async () => {
    const { code, stderr } = await gateway('orphans', 'config');
    expect(code).toBe(2);
    expect(stderr).toContain(`There is no database at ${join(folder, 'sub/gateway.db')}.`);
    expect(() => readFileSync(join(folder, 'sub/gateway.db'))).toThrow('ENOENT');
  });

  test('does not report by a configuration with errors', async () => {
    await recordTurns([KNOWN]);
    change('identity/users.yaml', 'users:', 'usrs:');
    const { code, stderr } = await gateway('orphans', 'config');
    expect(code).toBe(2);
    expect(stderr).toContain('Run `sub gateway check config`');
  });
});

describe('sub gateway serve', () => {
  test.each(['mysql://db/gateway', 'sqlite:gateway.db'])(
    'takes no database `%s` for the path of a file',
    async (database) => {
      await gateway('init', 'config');
      const refused = await gateway('serve', 'config', '--port', '0', '--database', database);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toMatch(/neither `postgres:.*\[SUB_STORE_UNUSABLE\]/);
      expect(readdirSync(folder).toSorted()).toEqual(['config', 'sub']);
    },
  );
});

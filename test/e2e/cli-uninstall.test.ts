// `sub uninstall`: every client is as it was, no daemon runs, and --purge leaves nothing of sub.
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, SERVER, said } from './adopt-home.ts';
import { askSub } from './ask-sub.ts';
import { ended, ensureBuilt, HAS_TERMINAL, runSub } from './sub.ts';

let machine: AdoptHome;
let codex: string;
let configs: readonly [claude: string, codex: string];
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  codex = join(machine.home, '.codex', 'config.toml');
  const words = SERVER.args.map((word) => JSON.stringify(word)).join(', ');
  const text = `[mcp_servers.files]\ncommand = ${JSON.stringify(SERVER.command)}\nargs = [${words}]\n`;
  configs = [machine.servers(), machine.write(codex, text)];
});
afterEach(() => machine.end());

const TYPE = ['--agent-type', 'claude-code', '--events', 'off', '--quiet'];
const PACKAGE = 'Remove the package itself with: npm rm -g subluminal\n';

function isBack(): readonly [claude: boolean, codex: boolean] {
  return [machine.read() === configs[0], machine.read(codex) === configs[1]];
}

/** Both clients are imported, a run is in the ledger, and the daemon runs. */
async function used(): Promise<void> {
  expect((await machine.sub('import', '--yes')).code).toBe(0);
  const run = await ended(machine.start(['run', '--quiet', ...machine.agent({ calls: [ECHO] })]));
  expect(run.code).toBe(0);
  expect((await machine.sub('ledgerd')).code).toBe(0);
}

test('the clients are restored, the daemon ends, and what stays is listed', async () => {
  await used();
  const { code, stdout, stderr } = await machine.sub('uninstall', '--yes');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(isBack()).toEqual([true, true]);
  expect((await machine.sub('ledgerd', '--status')).code).toBe(1);
  expect(stdout).toContain('What stays; --purge removes it:');
  expect(stdout).toMatch(/\.subluminal\/ledger\.db +\d+ KB, the ledger\n/);
  expect(stdout).toMatch(/Done: 2 configs put back, the daemon \(pid \d+\) stopped\.\n/);
  expect(stdout.endsWith(PACKAGE)).toBe(true);
  const again = await machine.sub('uninstall', '--yes');
  expect(again.code).toBe(0);
  expect(again.stdout.endsWith(`Nothing to do.\n${PACKAGE}`)).toBe(true);
});

test.skipIf(!HAS_TERMINAL)(
  'who declines is told that nothing was changed, and no more',
  async () => {
    await used();
    const shown = await machine.typed('uninstall', [['stop the daemon? [y/N]', 'n']]);
    expect(shown.trimEnd().endsWith('sub: nothing was changed.')).toBe(true);
    expect(shown).not.toContain('What stays');
  },
);

test('--purge removes what sub made and nothing else', async () => {
  await used();
  const policy = join(machine.project, 'policy.yaml');
  const text =
    'policy_id: p\nversion: "1"\nmode: observe\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules: []\n';
  machine.write(policy, text);
  machine.write(join(machine.subHome, 'notes.txt'), 'mine');
  const { code, stdout } = await machine.sub('uninstall', '--purge', '--yes');
  expect(code).toBe(0);
  expect(isBack()).toEqual([true, true]);
  expect(readdirSync(machine.subHome)).toEqual(['notes.txt']);
  expect(machine.read(policy)).toBe(text);
  expect(stdout).toContain(`Yours, left alone: ${machine.subHome}/notes.txt, ${policy}\n`);
});

test('after --purge nothing is left, and a second one has nothing to do', async () => {
  await used();
  expect((await machine.sub('uninstall', '--purge', '--yes')).code).toBe(0);
  expect(existsSync(machine.subHome)).toBe(false);
  const again = await machine.sub('uninstall', '--purge', '--yes');
  expect(again).toMatchObject({ code: 0, stdout: `Nothing to do.\n${PACKAGE}`, stderr: '' });
  expect(existsSync(machine.subHome)).toBe(false);
});

test('without --yes and without a terminal, and with --dry-run, nothing changes', async () => {
  await used();
  const governed = [machine.read(), machine.read(codex)];
  const asked = await machine.sub('uninstall', '--purge');
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain('not a terminal');
  const dry = await machine.sub('uninstall', '--purge', '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain('To be removed for good:');
  expect(dry.stdout).toMatch(/The daemon \(pid \d+\) would be stopped\./);
  expect([machine.read(), machine.read(codex)]).toEqual(governed);
  expect((await machine.sub('ledgerd', '--status')).code).toBe(0);
  expect(existsSync(join(machine.subHome, 'ledger.db'))).toBe(true);
});

test.each([
  ['killed', []],
  ['left rewritten on purpose', ['--no-restore']],
])('a session of `sub wrap` that was %s is ended, too', async (_what, flags) => {
  const agent = machine.agent({ calls: [ECHO], linger: flags.length === 0 });
  const child = machine.start(['wrap', ...TYPE, ...flags, ...agent]);
  const end = ended(child);
  await said(child, 'agent:');
  if (flags.length === 0) {
    child.kill('SIGKILL');
    machine.killAll();
  }
  await end;
  expect(isBack()).toEqual([false, true]);
  expect((await machine.sub('uninstall', '--purge', '--yes')).code).toBe(0);
  expect(isBack()).toEqual([true, true]);
  expect(existsSync(machine.subHome)).toBe(false);
});

test('--purge is refused while a run is alive, which is named', async () => {
  await machine.sub('import', '--yes');
  const child = machine.start(['run', '--quiet', ...machine.agent({ linger: true })]);
  const end = ended(child);
  await said(child, 'agent:');
  const { code, stderr } = await machine.sub('uninstall', '--purge', '--yes');
  expect(code).toBe(2);
  expect(stderr).toMatch(
    new RegExp(`still running: run [0-9a-f-]{36} \\(.*${child.pid}.*SUB_LEDGER_BUSY`),
  );
  expect(isBack()).toEqual([false, false]);
  child.kill('SIGTERM');
  await end;
  expect((await machine.sub('uninstall', '--purge', '--yes')).code).toBe(0);
});

describe('a config that cannot be put back', () => {
  test('stops no other, is named, and keeps --purge from removing what it needs', async () => {
    await used();
    const governed = machine.read();
    machine.write(machine.config, `${governed} and more`);
    const { code, stdout, stderr } = await machine.sub('uninstall', '--purge', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain(machine.config);
    expect(stderr).toContain('nothing was removed');
    expect(stdout).toContain('1 config put back');
    expect(isBack()).toEqual([false, true]);
    expect(existsSync(join(machine.subHome, 'ledger.db'))).toBe(true);
    machine.write(machine.config, governed);
    expect((await machine.sub('uninstall', '--purge', '--yes')).code).toBe(0);
    expect(isBack()).toEqual([true, true]);
    expect(existsSync(machine.subHome)).toBe(false);
  });

  test('of a server that is gone keeps its secret', async () => {
    const token = `ghp_${'a1B2c3D4'.repeat(5).slice(0, 36)}`;
    machine.servers({ files: { ...SERVER, env: { GITHUB_TOKEN: token } } });
    const moved = await machine.sub('import', 'claude', '--move-secrets', '--yes');
    expect(moved.code).toBe(0);
    expect(machine.read()).not.toContain(token);
    machine.servers({});
    const { code, stderr } = await machine.sub('uninstall', '--purge', '--yes');
    expect({ code, held: stderr.includes('nothing was removed') }).toEqual({ code: 2, held: true });
    const kept = await machine.sub('secrets', 'list');
    expect(kept.stdout).toContain('claude-code.files.GITHUB_TOKEN');
  });
});

test('--purge does not touch a home that holds more than Subluminal', async () => {
  const notes = join(machine.home, 'backups', 'mine');
  mkdirSync(notes, { recursive: true });
  const env = { ...machine.env, SUB_HOME: machine.home };
  const { code, stderr } = await askSub(['uninstall', '--purge', '--yes'], {
    cwd: machine.project,
    env,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('no folder of Subluminal alone');
  expect(existsSync(notes)).toBe(true);
});

describe('--purge removes nothing that is not of Subluminal', () => {
  const purge = (env: { readonly [name: string]: string } = {}) =>
    runSub(['uninstall', '--purge', '--yes'], {
      cwd: machine.project,
      env: { ...machine.env, ...env },
    });
  const put = (path: string, text: string) => {
    machine.write(path, text);
    return path;
  };
  const inHome = (...names: readonly string[]) => join(machine.home, ...names);

  test('a folder at the path of the ledger stays, and is named', async () => {
    await used();
    const photo = put(inHome('docs', 'photos', 'a.jpg'), 'mine');
    const { code, stderr } = await purge({ SUB_LEDGER_PATH: inHome('docs', 'photos') });
    expect(code).toBe(2);
    expect(stderr).toContain(`${inHome('docs', 'photos')} is no regular file`);
    expect(existsSync(photo)).toBe(true);
    expect(isBack()).toEqual([false, false]);
  });

  test('another file at the path of the ledger stays, with those beside it', async () => {
    const thesis = inHome('docs', 'thesis.txt');
    for (const ending of ['', '.head', '-journal']) put(`${thesis}${ending}`, 'mine');
    const config = put(join(machine.subHome, 'config.toml'), `[ledger]\npath = "${thesis}"\n`);
    const { code, stderr } = await purge();
    expect(code).toBe(2);
    expect(stderr).toContain(`${thesis} is no ledger`);
    expect(readdirSync(inHome('docs'))).toHaveLength(3);
    expect(existsSync(config)).toBe(true);
  });

  test('a link to a ledger stays', async () => {
    await used();
    const link = inHome('link.db');
    symlinkSync(join(machine.subHome, 'ledger.db'), link);
    expect((await purge({ SUB_LEDGER_PATH: link })).code).toBe(2);
    expect(existsSync(link)).toBe(true);
  });

  test('files beside a configured ledger that is not there stay', async () => {
    const head = put(inHome('docs', 'mine.head'), 'mine');
    expect((await purge({ SUB_LEDGER_PATH: inHome('docs', 'mine.db') })).code).toBe(0);
    expect(existsSync(head)).toBe(true);
  });

  test('a ledger outside of the home is removed', async () => {
    const ledger = inHome('elsewhere', 'mine.db');
    put(join(machine.subHome, 'config.toml'), `[ledger]\npath = "${ledger}"\n`);
    await used();
    expect(existsSync(ledger)).toBe(true);
    const { code, stderr } = await purge();
    expect(code, stderr).toBe(0);
    expect(readdirSync(inHome('elsewhere'))).toEqual([]);
    expect(existsSync(machine.subHome)).toBe(false);
  });

  test('a folder that Subluminal did not make stays as the home, and what is in it is named', async () => {
    const folder = inHome('work');
    for (const name of ['run/mine.sh', 'backups/db.sql', 'policy.yaml', 'config.toml']) {
      put(join(folder, name), '');
    }
    const { code, stderr } = await purge({ SUB_HOME: folder });
    expect(code).toBe(2);
    expect(stderr).toContain('found there: policy.yaml, config.toml, backups, run.');
    expect(readdirSync(folder)).toHaveLength(4);
    put(join(folder, 'host-id'), 'x');
    expect((await purge({ SUB_HOME: folder })).code).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  test('a link from the usual home to such a folder changes nothing', async () => {
    const mine = put(inHome('other', 'backups', 'db.sql'), 'mine');
    symlinkSync(inHome('other'), machine.subHome);
    expect((await purge()).code).toBe(2);
    expect(existsSync(mine)).toBe(true);
  });

  test('a folder under the name of a file stays', async () => {
    await used();
    const mine = put(join(machine.subHome, 'vault.key', 'mine'), 'mine');
    expect((await purge()).stdout).toContain(`left alone: ${machine.subHome}/vault.key`);
    expect(existsSync(mine)).toBe(true);
  });
});

test('programs get one document', async () => {
  await used();
  const { stdout } = await machine.sub('uninstall', '--purge', '--yes', '--json');
  const told = JSON.parse(stdout) as { readonly files: readonly { readonly client: string }[] };
  expect(told).toMatchObject({
    files: [{ restored: true }, { restored: true }],
    stopped: expect.any(Number) as number,
    live: [],
    left: [],
    foreign: [],
    problems: [],
  });
  expect(told.files.map(({ client }) => client).toSorted()).toEqual(['claude-code', 'codex']);
});

// A starter policy for a project: chosen, fitted, tried on what is recorded, and never in another's place.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, CTRL_C, SERVER } from './adopt-home.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, HAS_TERMINAL, ROOT } from './sub.ts';

const IS_ROOT = process.getuid?.() === 0;

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  mkdirSync(join(machine.project, '.git'));
});
afterEach(() => machine.end());

const policyPath = () => join(machine.project, '.subluminal', 'policy.yaml');

async function decisionOf(tool: string, args: object): Promise<string> {
  const call = ['--server', 'files', '--tool', tool, '--args', JSON.stringify(args), '--json'];
  const { stdout } = await machine.sub('policy', 'explain', policyPath(), ...call);
  const { calls } = JSON.parse(stdout) as { calls: { decision: { action: string } }[] };
  return calls[0]?.decision.action ?? '';
}

test('the policy is written, lints clean, and decides as the starter does', async () => {
  machine.servers();
  const { code, stdout, stderr } = await machine.sub('init');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('the starter `solo`, because nothing here says that others work on it');
  expect(stdout).toContain('No calls are on record yet');
  expect(stdout).toContain('Next, to govern 1 server of Claude Code: sub import');
  expect(machine.read(policyPath())).toMatch(
    /^# The policy of project, .* for: git, Claude Code\.$/m,
  );
  expect(await machine.sub('policy', 'lint', '--strict', policyPath())).toMatchObject({ code: 0 });
  expect(await decisionOf('read_text_file', { path: '.env' })).toBe('REJECT_WITH_HINT');
  expect(await decisionOf('write_file', { path: 'src/a.ts' })).toBe('ALLOW');
});

test.each([
  [{ CI: 'true' }, [], 'ci'],
  [{}, ['CODEOWNERS'], 'team'],
  [{}, ['.gitlab-ci.yml', 'go.mod'], 'team'],
  [{}, ['go.mod'], 'solo'],
])('with %j and %j, the use is %s', async (env, files, use) => {
  for (const file of files) machine.write(join(machine.project, file), '');
  const options = { cwd: machine.project, env: { ...machine.env, CI: '', ...env } };
  const { stdout } = await askSub(['init', '--dry-run', '--json'], options);
  expect(JSON.parse(stdout)).toMatchObject({ use, written: false });
  expect(existsSync(policyPath())).toBe(false);
});

test('from a folder below, the policy is that of the repository', async () => {
  const below = join(machine.project, 'packages', 'one');
  mkdirSync(below, { recursive: true });
  const { code } = await askSub(['init', '--use', 'ci'], { cwd: below, env: machine.env });
  expect(code).toBe(0);
  expect(machine.read(policyPath())).toContain('terminate_code: LOST_AGENT');
});

describe('what is there', () => {
  test.each([['policy.yaml'], [join('.subluminal', 'policy.yaml')]])(
    'a policy stays as it is, and --force keeps a copy: %s',
    async (name) => {
      const own = join(machine.project, name);
      machine.write(own, '# mine\n');
      const refused = await machine.sub('init');
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('is the policy here already');
      expect(refused.stderr).toContain('--force');
      expect(machine.read(own)).toBe('# mine\n');
      expect(await machine.sub('init', '--force', '--use', 'team')).toMatchObject({ code: 0 });
      expect(await machine.sub('init', '--force', '--use', 'solo')).toMatchObject({ code: 0 });
      expect(machine.read(`${own}.old`)).toBe('# mine\n');
      expect(machine.read(`${own}.old2`)).toContain('--use team');
      expect(machine.read(own)).toContain('--use solo');
    },
  );

  test('a file in place of the folder is an error, and stays', async () => {
    machine.write(join(machine.project, '.subluminal'), 'a file');
    const { code, stderr } = await machine.sub('init');
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_FILE_WRITE]');
    expect(machine.read(join(machine.project, '.subluminal'))).toBe('a file');
  });

  test.each([
    ['', []],
    ['# mine\n', ['--force']],
  ])('a link in place of the folder is an error, with the policy %j there', async (text, flags) => {
    const elsewhere = join(machine.folder, 'elsewhere');
    mkdirSync(elsewhere);
    if (text !== '') machine.write(join(elsewhere, 'policy.yaml'), text);
    const texts = () => readdirSync(elsewhere).map((name) => machine.read(join(elsewhere, name)));
    const before = texts();
    symlinkSync(elsewhere, join(machine.project, '.subluminal'));
    const { code, stderr } = await machine.sub('init', ...flags);
    expect(code).toBe(2);
    expect(stderr).toContain('.subluminal is a link, and nothing is written through one.');
    expect(texts()).toEqual(before);
  });

  test.skipIf(IS_ROOT)('a folder that may not be written is an error', async () => {
    chmodSync(machine.project, 0o555);
    const { code, stderr } = await machine.sub('init');
    chmodSync(machine.project, 0o755);
    expect(code).toBe(2);
    expect(stderr).toContain('may not be written');
  });

  test('outside of the home, it says how the policy is used, and --force replaces it', async () => {
    const outside = join(machine.folder, 'outside');
    mkdirSync(outside);
    machine.servers();
    const place = { cwd: outside, env: machine.env };
    const { code, stdout, stderr } = await askSub(['init'], place);
    expect(code).toBe(0);
    expect(stderr).toContain('is not used');
    expect(stdout).toMatch(/sub import --policy .*outside\/\.subluminal\/policy\.yaml/);
    const refused = await askSub(['init'], place);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('is the policy here already');
    expect(await askSub(['init', '--force'], place)).toMatchObject({ code: 0 });
  });

  test('an import names a policy that is not used, and asks for no other one', async () => {
    const outside = join(machine.folder, 'outside');
    machine.write(join(outside, '.subluminal', 'policy.yaml'), '# mine\n');
    machine.servers();
    const place = { cwd: outside, env: machine.env };
    const { code, stdout, stderr } = await askSub(['import', 'claude', '--yes'], place);
    expect(code).toBe(0);
    expect(stderr).toMatch(/policy\.yaml is not used: .* add: --policy /);
    expect(stdout).not.toContain('sub init');
  });
});

test('it shows what it would do to recorded calls', async () => {
  await machine.sub('ingest', `${ROOT}examples/events/session.jsonl`);
  const { stdout, stderr } = await machine.sub('init');
  expect(stdout, stderr).toMatch(/Of the last 17 calls in 1 run, it would let \d+ pass/);
  expect(stdout).not.toContain('shell_run');
  expect(stdout).toMatch(/^ +1 {2}ASK +github\/delete_repo +ask-before-deleting$/m);
  await machine.sub('ledgerd', '--stop');
});

test('a damaged ledger costs the preview alone', async () => {
  const home = join(machine.home, '.subluminal');
  mkdirSync(home, { mode: 0o700, recursive: true });
  machine.write(join(home, 'ledger.db'), 'no database\n'.repeat(1_000));
  const { code, stdout, stderr } = await machine.sub('init');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`Wrote ${policyPath()}`);
  expect(stdout).not.toContain('No calls are on record');
  expect(stderr).toMatch(/^sub: no preview: .*\[SUB_LEDGER_CORRUPT\]$/m);
  await machine.sub('ledgerd', '--stop');
});

test('without a terminal, `sub import` names it where there is no policy', async () => {
  machine.servers();
  const first = await machine.sub('import', 'claude', '--yes');
  expect(first.stdout).toContain('so calls are only recorded. To write one: sub init');
  await machine.sub('restore', 'claude', '--yes');
  await machine.sub('init');
  const second = await machine.sub('import', 'claude', '--yes');
  expect(second.stdout).not.toContain('sub init');
});

test('own tools of clients without servers are named, with the command that governs them', async () => {
  machine.write(join(machine.home, '.codex', 'config.toml'), 'model = "x"\n');
  const { stdout } = await machine.sub('init');
  expect(stdout).toContain('The own tools of Codex CLI (shell, edits, reads) are not governed yet');
  expect(stdout).toContain('sub import --hooks');
});

test('servers in files that git shares are named, and not offered: `sub import` leaves them', async () => {
  machine.servers();
  machine.servers({ team: SERVER }, join(machine.project, '.mcp.json'));
  const env = { ...process.env, HOME: machine.home, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['init'], { cwd: machine.project, env, stdio: 'ignore' });
  const { stdout } = await machine.sub('init');
  expect(stdout).toContain(
    'Not offered, because git shares them with others: 1 server of Claude Code. To govern them: sub import --shared',
  );
  expect(stdout).toContain('Next, to govern 1 server of Claude Code: sub import');
});

describe.skipIf(!HAS_TERMINAL)('on a terminal', () => {
  test('it offers to import, and the import goes on', async () => {
    machine.servers();
    const shown = await machine.typed('init', [
      ['Govern 1 server of Claude Code now, with sub import? [y/N]', 'y'],
      ['Change this file of Claude Code? [y/N]', 'y'],
      ['Put hooks into Claude Code as well', 'y'],
      ['Put these hooks into', 'y'],
    ]);
    expect(shown).toContain('Done: 1 server of Claude Code is governed');
    expect(shown).toContain('Done: the own tools of Claude Code are governed');
    expect(machine.read()).toContain('--server-name');
    const settings = join(machine.home, '.claude', 'settings.json');
    expect(readFileSync(settings, 'utf8')).toContain(' hook claude-code');
  });

  test('Ctrl-C at its question leaves the policy, and changes nothing more', async () => {
    const before = machine.servers();
    const shown = await machine.typed('init', [['now, with sub import? [y/N]', CTRL_C]]);
    expect(shown).toContain('nothing more was changed');
    expect(machine.read()).toBe(before);
    expect(readFileSync(policyPath(), 'utf8')).toContain('policy_id: "project"');
  });

  test('`sub import` offers to write it first', async () => {
    machine.servers();
    const shown = await machine.typed('import claude', [
      ['Write the starter policy `solo` to', 'y'],
      ['Change this file of Claude Code? [y/N]', 'y'],
      ['Put hooks into Claude Code as well', 'n'],
    ]);
    expect(shown).toContain('Done: 1 server of Claude Code is governed');
    expect(shown).toContain('Hooks govern these tools: sub import claude-code --hooks');
    expect(existsSync(policyPath())).toBe(true);
  });
});

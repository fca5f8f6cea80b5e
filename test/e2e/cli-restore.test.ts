// Out of governance again, by the built `sub restore`.
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { AdoptHome, SECRET, SERVER } from './adopt-home.ts';
import { ensureBuilt } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const STRANGE = `\uFEFF{\r\n\t"mcpServers" : {\r\n\t\t"files":{"command":"npx","args":["-y" , "a\\u0062c"],"env":{"T":"${SECRET}"}},\r\n\t\t"bare" : {"command":"b"}\r\n\t}\r\n}`;

test('a config comes back byte for byte, however it was written', async () => {
  verifies('SL-13', 'NFR-003.4');
  machine.write(machine.config, STRANGE);
  await machine.sub('import', 'claude', '--yes');
  expect(machine.read()).not.toBe(STRANGE);
  const { code, stdout } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(0);
  expect(stdout).not.toContain(SECRET);
  expect(machine.read()).toBe(STRANGE);
  expect([...machine.left('run'), ...machine.left('backups')]).toEqual([]);
});

test('what another program changed since stays, and only our changes come out', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  const config = JSON.parse(machine.read()) as { mcpServers: object; theme: string };
  const changed = { ...config, theme: 'light', mcpServers: { ...config.mcpServers, late: SERVER } };
  machine.write(machine.config, JSON.stringify(changed));
  const { code, stdout, stderr } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain('changed by another program');
  // The file as it was until now is kept, and its place told.
  expect(stderr).toContain('is kept in');
  expect(JSON.parse(machine.read())).toEqual({
    theme: 'light',
    token: SECRET,
    mcpServers: { files: SERVER, late: SERVER },
  });
});

test('without a record the entries tell themselves what they were', async () => {
  machine.servers({ files: SERVER, bare: { command: 'b' } });
  await machine.sub('import', 'claude', '--yes');
  rmSync(machine.subHome, { recursive: true });
  const { code, stdout } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain('no record');
  expect(JSON.parse(machine.read())).toMatchObject({
    mcpServers: { files: SERVER, bare: { command: 'b' } },
  });
  expect(machine.left('backups')).toEqual([]);
});

test('a dry run shows what would come back and changes nothing', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  const governed = machine.read();
  const { code, stdout } = await machine.sub('restore', 'claude', '--dry-run');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^-.*"shim"/m);
  expect(machine.read()).toBe(governed);
});

test('nobody to ask, nothing changed', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  const governed = machine.read();
  const { code, stderr } = await machine.sub('restore', 'claude');
  expect(code).toBe(2);
  expect(stderr).toContain('--yes');
  expect(machine.read()).toBe(governed);
});

test('--all takes every client, also a config that was named by its path', async () => {
  const custom = join(machine.project, 'mcp.json');
  const toml = join(machine.home, '.codex', 'config.toml');
  const texts = [
    machine.servers(),
    machine.servers({ x: SERVER }, custom),
    machine.write(toml, '[mcp_servers.a]\ncommand = "a"\n'),
  ];
  await machine.sub('import', '--yes');
  await machine.sub('import', 'custom', '--config-path', 'mcp.json', '--yes');
  const { code, stdout } = await machine.sub('restore', '--all', '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain('3 files put back');
  expect([machine.config, custom, toml].map((path) => machine.read(path))).toEqual(texts);
});

test('a client that nothing was changed of has nothing to restore', async () => {
  machine.servers();
  const { code, stdout } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(0);
  expect(stdout).toContain('Nothing to do.');
});

test('a config that cannot be put back is not followed by "Nothing to do."', async () => {
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  machine.write(machine.config, '{ "mcpServers": ');
  const { code, stdout } = await machine.sub('restore', 'claude', '--yes');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});

test('--project takes only what is inside of that folder', async () => {
  const own = join(machine.project, '.mcp.json');
  const texts = [machine.servers(), machine.servers({ x: SERVER }, own)];
  await machine.sub('import', 'claude', '--yes');
  await machine.sub('restore', 'claude', '--yes', '--project', machine.project);
  expect(machine.read(own)).toBe(texts[1]);
  expect(machine.read()).not.toBe(texts[0]);
  expect((await machine.sub('restore', '--help')).stdout).toContain('Only configs inside');
});

test('a backup that was put in place by hand is told as what it is', async () => {
  const before = machine.servers();
  await machine.sub('import', 'claude', '--yes');
  machine.write(machine.config, before);
  const { stderr } = await machine.sub('grants', 'list');
  expect(stderr).toContain(`${machine.config} is as it was before sub changed it`);
  expect(machine.left('backups')).toEqual([]);
});

test('the client or --all has to be said, and not both', async () => {
  expect((await machine.sub('restore')).code).toBe(2);
  expect((await machine.sub('restore', 'claude', '--all')).code).toBe(2);
});

// Who may write everything is refused nothing.
test.skipIf(process.getuid?.() === 0)(
  'a config that cannot be written is told, with its backup',
  async () => {
    verifies('F-020');
    machine.servers();
    await machine.sub('import', 'claude', '--yes');
    const governed = machine.read();
    chmodSync(machine.home, 0o500);
    const { code, stderr } = await machine.sub('restore', 'claude', '--yes');
    chmodSync(machine.home, 0o700);
    expect(code).toBe(2);
    expect(stderr).toContain('cp ');
    expect(machine.read()).toBe(governed);
  },
);

test('a config that no longer reads is left alone, with what to do by hand', async () => {
  verifies('F-020');
  machine.servers();
  await machine.sub('import', 'claude', '--yes');
  machine.write(machine.config, '{ "mcpServers": { "files": ');
  const { code, stderr } = await machine.sub('restore', 'claude', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain('[SUB_CLIENT_RESTORE]');
  const [key = ''] = readdirSync(join(machine.subHome, 'backups'));
  expect(stderr).toContain(join(machine.subHome, 'backups', key, 'original'));
  expect(machine.read()).toBe('{ "mcpServers": { "files": ');
});

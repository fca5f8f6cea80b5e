// A client that only this test knows: a description and one place in the list are all it takes.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createClient } from './create-client.ts';
import { CLIENTS, clientStartedBy, findClient } from './registry.ts';
import { applyImport, applyRestore, planImport, planRestore } from './setup/index.ts';
import type { Client } from './types.ts';

const CONFIG = '{ "tools": { // mine\n  "one": { "command": "one-mcp" } } }\n';

const probe = createClient({
  id: 'probe-client',
  title: 'Probe Client',
  aliases: ['probe'],
  commands: ['probe-agent'],
  format: 'jsonc',
  userFiles: ({ userHome }) => [join(userHome, '.probe', 'tools.json')],
  folders: () => [],
  inside: [['tools']],
  containers: () => [{ path: ['tools'] }],
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-family-'));
  mkdirSync(join(folder, '.probe'));
  writeFileSync(join(folder, '.probe', 'tools.json'), CONFIG);
  (CLIENTS as Client[]).push(probe);
});
afterEach(() => {
  (CLIENTS as Client[]).pop();
  rmSync(folder, { recursive: true, force: true });
});

test('a client that is described and listed is found, imported and restored', async () => {
  expect(findClient('probe')).toBe(probe);
  expect(clientStartedBy(['probe-agent'])).toBe(probe);
  const path = join(folder, '.probe', 'tools.json');
  const home = join(folder, 'home');
  const options = {
    env: { HOME: folder },
    project: folder,
    paths: {
      home,
      config: join(home, 'config.toml'),
      backups: join(home, 'backups'),
      run: join(home, 'run'),
    },
    keychain: null,
    own: { runtime: process.execPath, script: join(folder, 'sub.mjs') },
    redactPatterns: [],
  };
  writeFileSync(options.own.script, '');
  const plan = await planImport({ ...options, servers: [] });
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.files.map((file) => [file.client.id, file.path])).toEqual([['probe-client', path]]);
  for (const file of plan.files)
    expect(applyImport(file, { ...options, servers: [] }).kind).toBe('applied');
  expect(readFileSync(path, 'utf8')).toContain('--server-name');
  const back = await planRestore({ ...options, isProjectOnly: false });
  if (back.kind === 'failure') throw new Error(back.message);
  for (const file of back.files) expect(await applyRestore(file)).toMatchObject({ isBack: true });
  expect(readFileSync(path, 'utf8')).toBe(CONFIG);
  expect(existsSync(join(home, 'backups'))).toBe(true);
});

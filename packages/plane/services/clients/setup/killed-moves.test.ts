// Processes that are killed while secrets move: at every moment the config starts its server with
// its secret, from wherever that comes, and everything can be taken back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import type { MoveStep } from '../secrets/move-secrets.ts';
import { repairBindings } from '../secrets/pending-bindings.ts';
import type { ChangeStep } from '../store/config-file.ts';
import { repairHome } from './repair.ts';
import type { Task } from './testing/child.ts';
import { envOf, importMoving, Machine, restoreAll } from './testing/machine.ts';

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-child-'));
  await build({
    entryPoints: [fileURLToPath(new URL('./testing/child.ts', import.meta.url))],
    outfile: join(folder, 'child.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20.19',
    external: ['@napi-rs/keyring'],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const IMPORT: readonly (ChangeStep | MoveStep)[] = [
  'secrets stored',
  'servers bound',
  'locked',
  'read',
  'planned',
  'base written',
  'record written',
  'base in place',
  'draft made',
  'draft written',
  'compared',
  'replaced',
  'done',
];
const RESTORE: readonly ChangeStep[] = [
  'locked',
  'planned',
  'draft made',
  'draft written',
  'compared',
  'replaced',
  'record dropped',
  'base dropped',
  'done',
];
const SCRIPT = fileURLToPath(new URL('../../../../cli/bin/sub.mjs', import.meta.url));
const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';
const CONFIG = `{\n  "mcpServers": {\n    "hub": {\n      "command": "npx",\n      "env": { "HUB_TOKEN": "${TOKEN}", "MODE": "x" }\n    }\n  }\n}\n`;

function machine(): Machine {
  const made = new Machine();
  made.write(CONFIG);
  onTestFinished(() => made.end());
  return made;
}

async function killed(task: Omit<Task, 'script'>): Promise<void> {
  const program = join(folder, 'child.mjs');
  const args = [program, JSON.stringify({ ...task, script: SCRIPT })];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

/** What the server gets, if a client starts it from the config as it is now. */
async function tokenOf(one: Machine): Promise<string | undefined> {
  const { mcpServers } = JSON.parse(one.read()) as {
    mcpServers: { hub: { args?: string[]; env: { [name: string]: string } } };
  };
  const { args = [], env } = mcpServers.hub;
  if (!args.includes('shim')) return env['HUB_TOKEN'];
  return (await envOf(one.options(), 'hub', { env })).env['HUB_TOKEN'];
}

describe('an import that moves a secret, killed', () => {
  test.each(IMPORT)(
    'at "%s": the server keeps its secret, and it can be undone',
    async (killAt) => {
      verifies('NFR-003.4');
      const one = machine();
      await killed({ does: 'import', folder: one.folder, killAt });
      expect(await tokenOf(one)).toBe(TOKEN);
      repairHome(one.options());
      await repairBindings(one.options());
      expect(await tokenOf(one)).toBe(TOKEN);
      expect(await restoreAll(one.options())).toEqual([]);
      expect(one.read()).toBe(CONFIG);
      // Nothing is left that would win over what the config says from then on.
      expect(one.bindings).toBe('');
    },
  );

  test.each(IMPORT)('at "%s": the next one ends it, and leaves no plain text', async (killAt) => {
    verifies('NFR-003.4');
    const one = machine();
    await killed({ does: 'import', folder: one.folder, killAt });
    repairHome(one.options());
    await importMoving(one.options());
    expect(one.holding(TOKEN)).toEqual([]);
    expect(await tokenOf(one)).toBe(TOKEN);
    expect(one.bindings.match(/inject_as/g)).toHaveLength(1);
    expect(await restoreAll(one.options())).toEqual([]);
    expect(one.read()).toBe(CONFIG);
  });

  test.each(IMPORT)('at "%s", on top of one that moved another: both come back', async (killAt) => {
    verifies('NFR-003.4');
    const one = machine();
    await importMoving(one.options());
    const later = 'pw-5Tg8Hn2Kq7Wd';
    const entry = `    "late": { "command": "late", "env": {"LATE_PASSWORD":"${later}"} },\n    "hub"`;
    // Another program has added it: so the whole is not what it was, and only the data has to be.
    one.write(one.read().replace('    "hub"', entry));
    await killed({ does: 'import', folder: one.folder, killAt });
    expect(await tokenOf(one)).toBe(TOKEN);
    await importMoving(one.options());
    expect([...one.holding(later), ...one.holding(TOKEN)]).toEqual([]);
    expect(await restoreAll(one.options())).toEqual([]);
    expect(JSON.parse(one.read())).toEqual(JSON.parse(CONFIG.replace('    "hub"', entry)));
  });
});

describe('a restore of moved secrets, killed', () => {
  test.each(RESTORE)(
    'at "%s": the server keeps its secret, the next one ends it',
    async (killAt) => {
      verifies('F-020', 'NFR-003.4');
      const one = machine();
      await importMoving(one.options());
      await killed({ does: 'restore', folder: one.folder, killAt });
      expect(await tokenOf(one)).toBe(TOKEN);
      repairHome(one.options());
      expect(await restoreAll(one.options())).toEqual([]);
      expect(one.read()).toBe(CONFIG);
    },
  );
});

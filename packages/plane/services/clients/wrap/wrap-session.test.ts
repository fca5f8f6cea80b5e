// A host that dies of a defect of its own leaves the configs as they were.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';

const CONFIG = '{ "mcpServers": { "a": { "command": "server-a" } } }\n';

let programs = '';
let home = '';
beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'sub-crash-'));
  await build({
    entryPoints: [fileURLToPath(new URL('./testing/crash.ts', import.meta.url))],
    // Under the name that a config knows it by.
    outfile: join(programs, 'sub.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20.19',
  });
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-session-'));
  writeFileSync(join(home, 'mcp.json'), CONFIG);
  // As `sub run` has made it by then.
  mkdirSync(join(home, '.subluminal', 'run'), { recursive: true, mode: 0o700 });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test.each([
  ['throws', 70],
  ['rejects', 70],
  ['exits', 9],
])('a process that %s puts the config back first', async (how, code) => {
  verifies('F-020', 'NFR-003');
  const task = JSON.stringify({ home, cwd: home, how });
  const child = spawn(process.execPath, [join(programs, 'sub.mjs'), task], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  const rewritten = readFileSync(join(home, 'mcp.json'), 'utf8');
  child.stdin.end('now\n');
  expect((await ended)[0]).toBe(code);
  expect(rewritten).toContain('--wrap');
  expect(readFileSync(join(home, 'mcp.json'), 'utf8')).toBe(CONFIG);
  expect(readdirSync(join(home, '.subluminal', 'run'))).toEqual([]);
  expect(readdirSync(join(home, '.subluminal', 'backups'))).toEqual([]);
});

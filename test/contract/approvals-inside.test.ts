// An agent that was imported runs outside of `sub run`, and may run commands: it must not approve.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ended, ensureBuilt, SUB } from '../e2e/sub.ts';

beforeAll(ensureBuilt);

/** Starts a governed server, waits for its first answer, then tries to approve something. */
const AGENT = `
import { spawn, spawnSync } from 'node:child_process';
const [sub] = process.argv.slice(2);
const server = "process.stdin.on('data', () => console.log('{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{}}'))";
const shim = spawn(process.execPath, [sub, 'shim', '--server-name', 's', '--events', 'off', '--', process.execPath, '-e', server]);
shim.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\\n');
shim.stdout.once('data', () => {
  for (const words of [['approvals', 'approve', 'x'], ['pins', 'reset', '--yes'], ['approvals']]) {
    const { status, stderr } = spawnSync(process.execPath, [sub, ...words], { encoding: 'utf8' });
    console.log(status, /\\[(SUB_\\w+)\\]/.exec(stderr)?.[1] ?? '');
  }
  shim.stdin.end();
});
`;

it.each([
  ['claude.mjs', ['2 SUB_INSIDE_RUN', '2 SUB_INSIDE_RUN', '0 ']],
  ['tool.mjs', ['2 SUB_INSIDE_RUN', '2 SUB_INSIDE_RUN', '0 ']],
])(
  'commands for a person are refused below %s, which has a governed server',
  async (name, said) => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-inside-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'home'), { mode: 0o700 });
    writeFileSync(join(folder, name), AGENT);
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: join(folder, 'home') };
    const child = spawn(process.execPath, [join(folder, name), SUB], { cwd: folder, env });
    const { stdout } = await ended(child);
    expect(stdout.split('\n').slice(0, -1)).toEqual(said);
  },
);

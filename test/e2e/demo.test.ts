// `npm start` without its setup: what a newcomer sees first, run as it is.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ended, ensureBuilt, ROOT, SUB } from './sub.ts';

let folder: string;
beforeAll(() => ensureBuilt());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function startDemo(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { NO_COLOR: _no, FORCE_COLOR: _force, COLORTERM: _more, ...inherited } = process.env;
  return spawn(process.execPath, ['examples/demo/start.mjs', ...args], {
    cwd: ROOT,
    // A policy of the user's must not reach the demo; what it makes must be in the folder.
    env: { ...inherited, SUB_POLICY: '/none.yaml', HOME: folder, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Whatever was started below the demo has its temporary folder in the environment. */
function leftRunning(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${folder}\0`)
      );
    } catch {
      return false;
    }
  });
}

const LIVE = [
  ['ALLOW', 'list_directory'],
  ['HINT', 'read_text_file', 'short-reads'],
  ['ALLOW', 'read_text_file'],
  ['BLOCK', 'read_text_file', 'no-secrets'],
  ['ALLOW', 'write_file'],
  ['HINT', 'write_file', 'no-double-writes'],
  ['ALLOW', 'read_text_file'],
  ['ALLOW', 'write_file'],
  ['HINT', 'write_file', 'write-budget'],
];

/** Without what differs from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/\d\d:\d\d:\d\d\.\d{3}/g, 'TIME')
    .replaceAll(/ +\d+ ms/g, ' MS')
    .replaceAll(/…[0-9a-f]{8}/g, 'RUN')
    .replaceAll(/ {2,}/g, ' ');
}

describe('the demo', () => {
  it('shows each call, what was refused and why, and leaves nothing behind', async () => {
    const { code, stdout, stderr } = await ended(startDemo());
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const calls = stdout.split('\n').filter((line) => line.includes(' files/'));
    expect(calls).toHaveLength(LIVE.length);
    for (const [at, words] of LIVE.entries()) {
      for (const word of words) expect(calls[at]).toContain(word);
    }
    expect(stdout).toContain('9 calls: 5 passed, 4 refused.');
    expect(stdout).toContain('→ it asked again with tail: 40');
    expect(stdout).toContain('→ it read it back: all there');
    expect(stdout).toContain('✔ ledger: nothing was changed, removed or added');
    expect(stdout).not.toContain('\u001b');
    const shown = /```\n\$ npm start\n(.*?)\n…\n```/s.exec(
      readFileSync(`${ROOT}README.md`, 'utf8'),
    );
    expect(steady(stdout)).toContain(steady(shown?.[1] ?? 'README.md shows no demo'));
    expect(readdirSync(folder)).toEqual([]);
    expect(leftRunning()).toEqual([]);
  });

  it('runs beside itself, and in colours where they are wanted', async () => {
    const both = await Promise.all([
      ended(startDemo()),
      ended(startDemo([], { FORCE_COLOR: '1' })),
    ]);
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(both[1]?.stdout).toContain('\u001b[32m');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps its ledger when asked, and the commands it names then work', async () => {
    const { code, stdout } = await ended(startDemo(['--keep']));
    expect(code).toBe(0);
    const commands = stdout.split('\n').filter((line) => /^ {2}(?:SUB_HOME=\S+ )?sub /.test(line));
    expect(commands).toHaveLength(3);
    const outputs = commands.map((command) => {
      const real = command.replace(/\bsub /, `"${process.execPath}" "${SUB}" `);
      const env = { ...process.env, HOME: folder };
      return spawnSync('sh', ['-c', real], { cwd: ROOT, env, encoding: 'utf8' });
    });
    for (const { stderr } of outputs) expect(stderr).not.toContain('SUB_');
    expect(outputs.map(({ stdout: text }) => text).join('\n')).toContain('READ_TOO_LONG');
    expect(outputs.map(({ stdout: text }) => text).join('\n')).toContain('SECRETS_CLOSED');
    expect(leftRunning()).toEqual([]);
  });

  it('names commands that work in a checkout without an installed sub', async () => {
    const { stdout } = await ended(startDemo([], { npm_lifecycle_event: 'start' }));
    expect(stdout).toContain('\n  node packages/cli/bin/sub.mjs doctor');
    expect(stdout).not.toMatch(/^ {2}sub /m);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves nothing running and no files when %s comes', async (signal, exitCode) => {
    const child = startDemo([], { DEMO_PAUSE_MS: '60000' });
    const result = ended(child);
    // The heading comes before everything else: its parts are about to start.
    await once(child.stdout ?? child, 'data');
    child.kill(signal);
    expect((await result).code).toBe(exitCode);
    expect(readdirSync(folder)).toEqual([]);
    expect(leftRunning()).toEqual([]);
  });

  it('leaves nothing behind when it is interrupted in the middle of a call', async () => {
    const child = startDemo([], { DEMO_PAUSE_MS: '300' });
    const result = ended(child);
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (text: string) => text.includes('ALLOW') && resolve());
    });
    expect(leftRunning().length).toBeGreaterThan(4);
    child.kill('SIGINT');
    expect((await result).code).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
    expect(leftRunning()).toEqual([]);
  });

  it('shows its ledger in the page until Ctrl-C, and then leaves nothing behind', async () => {
    const child = startDemo(['--ui']);
    let said = '';
    const result = ended(child);
    const link = await new Promise<URL>((resolve, reject) => {
      child.on('close', () => reject(new Error(said)));
      child.stdout?.on('data', (text: string) => {
        said += text;
        const url = /^ {2}(http:\S+\/login#\S+)\n/m.exec(said)?.[1];
        if (url !== undefined) resolve(new URL(url));
      });
    });
    const login = await fetch(`${link.origin}/api/v1/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: link.hash.slice(1) }),
    });
    const { page_token } = (await login.json()) as { readonly page_token: string };
    const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const headers = { cookie, 'x-sub-page': page_token };
    const calls = await fetch(`${link.origin}/api/v1/calls`, { headers });
    expect(((await calls.json()) as { rows: unknown[] }).rows).toHaveLength(LIVE.length);
    expect(await (await fetch(link.origin)).text()).toContain('<!doctype html>');
    child.kill('SIGINT');
    expect(await result).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(folder)).toEqual([]);
    expect(leftRunning()).toEqual([]);
  });

  it('says how it is called', async () => {
    const { code, stderr } = await ended(startDemo(['--kep']));
    expect(code).toBe(2);
    expect(stderr).toContain('sub demo [--keep]');
    expect(readdirSync(folder)).toEqual([]);
  });
});

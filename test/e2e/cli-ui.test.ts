// `sub ui` as a person types it, on a daemon that it starts.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTerminal, personSub } from '../person.ts';
import { ensureBuilt, HAS_TERMINAL, ROOT, runSub } from './sub.ts';

interface Link {
  readonly url: string;
  readonly role: string;
  readonly opened: boolean;
  readonly expires_at_ms: number;
}

let folder = '';
let env: { readonly [name: string]: string } = {};
beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-ui-'));
  env = { HOME: folder, SUB_HOME: join(folder, 'home'), BROWSER: '', DISPLAY: '' };
  if (HAS_TERMINAL) await openTerminal();
});
afterAll(async () => {
  await runSub(['ledgerd', '--stop'], { cwd: folder, env });
  rmSync(folder, { recursive: true, force: true });
});

async function json<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

/** As the script of the page does with the address that it was opened by. */
async function logIn({ url }: Link) {
  const { origin, hash } = new URL(url);
  const login = await fetch(`${origin}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code: hash.slice(1) }),
  });
  const { page_token } = await json<{ readonly page_token: string }>(login);
  const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  return { status: login.status, headers: { cookie, 'x-sub-page': page_token }, origin };
}

test.skipIf(!HAS_TERMINAL)('sub ui gives a link that opens the page once, by role', async () => {
  const cwd = folder;
  const first = await personSub(['ui', '--json', '--no-open'], { cwd, env });
  expect(first.stderr).toBe('');
  const link = JSON.parse(first.stdout) as Link;
  expect(link).toMatchObject({ role: 'owner', opened: false });
  expect(link.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#[\w-]{43}$/);
  const { status, headers, origin } = await logIn(link);
  expect(status).toBe(200);
  const session = await fetch(`${origin}/api/v1/session`, { headers });
  expect(await session.json()).toMatchObject({ plane: 'ledger', role: 'owner' });
  expect((await logIn(link)).status).toBe(401);
  const page = await fetch(`${origin}/login`);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");

  const looking = await personSub(['ui', '--no-open', '--role', 'viewer'], { cwd, env });
  const url = /^Open this link .*:\n(http\S+)\n$/.exec(looking.stdout)?.[1] ?? '';
  const viewer = await logIn({ ...link, url });
  const post = await fetch(`${origin}/api/v1/grants/x/revoke`, {
    method: 'POST',
    headers: { ...viewer.headers, 'content-type': 'application/json' },
    body: '{}',
  });
  expect([post.status, await post.json()]).toMatchObject([
    403,
    { error: { code: 'SUB_API_ROLE' } },
  ]);

  const told = await runSub(['ledgerd', '--status'], { cwd, env });
  expect(told.stdout).toContain(`It serves the page on ${origin}; \`sub ui\` opens it.`);
  expect(told.stdout).toContain('It stays until');

  // The browser that BROWSER names gets the link.
  const seen = join(folder, 'seen');
  const browser = join(folder, 'browser.sh');
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${seen}.part && mv ${seen}.part ${seen}\n`, {
    mode: 0o700,
  });
  const opening = await personSub(['ui', '--json'], { cwd, env: { ...env, BROWSER: browser } });
  const opened = JSON.parse(opening.stdout) as Link;
  expect(opened.opened).toBe(true);
  await expect.poll(() => existsSync(seen)).toBe(true);
  expect(readFileSync(seen, 'utf8')).toBe(opened.url);
});

test('sub ui is for a person at a terminal, and gives a script no link', async () => {
  const { code, stdout, stderr } = await runSub(['ui', '--json'], { cwd: folder, env });
  expect(code).toBe(2);
  expect(stdout + stderr).toMatch(/SUB_TERMINAL_NEEDED|SUB_INSIDE_RUN/);
  expect(stdout + stderr).not.toContain('/login#');
});

test.skipIf(!HAS_TERMINAL)('sub ui says why there is no page', async () => {
  const other = { ...env, SUB_HOME: join(folder, 'off'), SUB_LEDGER_HTTP: 'off' };
  const { code, stderr } = await personSub(['ui'], { cwd: folder, env: other });
  expect([code, stderr]).toEqual([2, expect.stringContaining('SUB_UI_ADDRESS')]);
  expect(stderr).toContain('`ledger.http` is "off"');
  expect(existsSync(join(folder, 'off', 'run', 'ledger.sock'))).toBe(false);
});

test('the page is built beside the command', () => {
  expect(existsSync(join(ROOT, 'packages', 'web', 'dist', 'index.html'))).toBe(true);
});

// Several processes share one grant with a refresh token that is good for one use.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { readGrant } from './grant-store.ts';
import { startIssuer, startResource } from './testing/authorization-server.ts';
import { logIn } from './testing/log-in.ts';

const PROCESSES = 4;
const ROUNDS = 6;
const LIFE_S = 100;

it('processes that renew at once lose no refresh token, and renew once each time', async () => {
  const home = mkdtempSync(join(tmpdir(), 'sub-renew-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const issuer = await startIssuer({ accessTtlS: LIFE_S });
  onTestFinished(() => issuer.close());
  const resource = await startResource({ issuer });
  onTestFinished(() => resource.close());
  const { url } = resource;
  const program = join(home, 'renewing-process.mjs');
  const source = fileURLToPath(new URL('./testing/renewing-process.ts', import.meta.url));
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['@napi-rs/keyring'],
    banner: {
      js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);",
    },
  });
  const vault = { home, keychain: null, nowMs: Date.now };
  const first = await logIn(url, home);
  const before = issuer.requests.filter((one) => one === 'POST /token').length;
  const said = Array.from({ length: PROCESSES }, () => {
    const words = [program, home, url, String(ROUNDS), String(LIFE_S * 1_000)];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return text(child.stdout);
  });
  const lines = (await Promise.all(said)).map((one) => one.trim().split('\n'));
  expect(lines.map((one) => one.length)).toEqual(Array.from({ length: PROCESSES }, () => ROUNDS));
  expect(lines.flat().filter((line) => !/^[0-9a-f]{64}$/.test(line))).toEqual([]);
  const renewals = issuer.requests.filter((one) => one === 'POST /token').length - before;
  expect(renewals).toBe(ROUNDS);
  // The last one is good: none was used twice, which would have ended the login.
  const last = await readGrant(vault, { url, principal: '' });
  if (last === undefined || isFailure(last)) throw new Error('the grant is gone');
  expect(last.refreshToken).not.toBe(first.refreshToken);
  const refresh = await issuer.provider.RefreshToken.find(last.refreshToken ?? '');
  expect(refresh?.consumed).toBeUndefined();
  expect(refresh?.isValid).toBe(true);
}, 60_000);

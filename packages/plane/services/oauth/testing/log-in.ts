// A login in the process of a test: `sub auth login` is not for what runs below an agent, as all that a test starts does.
import { isFailure } from '@subluminal/contracts';
import { startLogin } from '../login.ts';
import { openOAuthHttp } from '../oauth-http.ts';
import type { Grant } from '../types.ts';
import { guardFor } from '../url-guard.ts';
import { browse } from './authorization-server.ts';

export interface LoginWish {
  readonly server?: string;
  readonly principal?: string;
  readonly scopes?: readonly string[];
}

/** Keeps the grant in the store of that home. Throws the failure. */
export async function logIn(url: string, home: string, wish: LoginWish = {}): Promise<Grant> {
  const { server = 'tickets', principal = '', scopes = [] } = wish;
  const http = openOAuthHttp({ guard: guardFor(url, {}) });
  const secrets = { fetch: async () => '', close: async () => {} };
  const vault = { home, keychain: null, nowMs: Date.now };
  const request = { server, url, principal, scopes, settings: {} };
  try {
    const started = await startLogin(request, { http, vault, secrets });
    if (isFailure(started)) throw new Error(started.message);
    const params = new URL(await browse(started.url)).searchParams;
    started.close();
    const grant = await started.finish(params);
    if (isFailure(grant)) throw new Error(grant.message);
    return grant;
  } finally {
    await http.close();
  }
}

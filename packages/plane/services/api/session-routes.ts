// Logging a page in and out, and who is logged in.
import type { IncomingMessage } from 'node:http';
import { API_ENDPOINTS, type ApiLoggedIn, type ApiSession } from '@subluminal/contracts';
import { httpFailure, isHttpFailure } from './http-failure.ts';
import type { PageAccess } from './page-access.ts';
import type { ApiCaller } from './request-guard.ts';
import { type ApiApp, get, post } from './routes.ts';

export interface SessionRoutesOptions {
  readonly user: string;
  readonly version: string;
  /** Whether Steward is set up in this home. */
  readonly hasSteward?: (() => boolean) | undefined;
  /** Without it there is no page. */
  readonly access: PageAccess | undefined;
  /** Who was let in with this request. */
  readonly callerOf: (request: IncomingMessage) => ApiCaller | undefined;
}

const NO_PAGES = httpFailure(404, 'SUB_UI_PAGES');

export function addSessions(app: ApiApp, options: SessionRoutesOptions): void {
  const { user, version, access, callerOf, hasSteward } = options;
  const { session, login, logout, loginLink } = API_ENDPOINTS;
  get(app, session, async (_query, _ids, context) => {
    const caller = callerOf(context.env.incoming);
    if (caller === undefined) return httpFailure(401, 'SUB_API_TOKEN');
    const { role, expiresAtMs: expires_at_ms } = caller;
    const known = { plane: 'ledger', user, role, version, expires_at_ms } as const;
    const answer: ApiSession = { ...known, has_steward: hasSteward?.() ?? false };
    return answer;
  });
  post(app, login, ({ code }, _ids, context) => {
    const begun = access?.login(code, context.env.incoming.socket) ?? NO_PAGES;
    if (isHttpFailure(begun)) return begun;
    context.header('set-cookie', begun.setCookie);
    const answer: ApiLoggedIn = { page_token: begun.pageToken };
    return answer;
  });
  post(app, logout, (_input, _ids, context) => {
    if (access === undefined) return NO_PAGES;
    context.header('set-cookie', access.logout());
    return { logged_out: 'yes' };
  });
  post(app, loginLink, ({ role = 'owner' }) => access?.link(role) ?? NO_PAGES);
}

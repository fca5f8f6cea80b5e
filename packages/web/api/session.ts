// Who is logged in, and how one logs in and out.
import type { ApiLoggedIn, ApiSession } from '@subluminal/contracts';
import { createContext, useContext } from 'react';
import { LEDGER_PATHS } from './endpoint-paths.ts';
import { dropPageToken, keepPageToken } from './page-token.ts';
import { send } from './request.ts';

export async function askSession(signal?: AbortSignal): Promise<ApiSession> {
  const response = await send(LEDGER_PATHS.session.path, { signal });
  return response.json();
}

/** With the code of a link of the ledger, or with a key of the gateway. */
export async function logIn(credential: { code: string } | { api_key: string }): Promise<void> {
  const response = await send(LEDGER_PATHS.login.path, { method: 'POST', body: credential });
  const { page_token }: ApiLoggedIn = await response.json();
  keepPageToken(page_token);
}

export async function logOut(): Promise<void> {
  await send(LEDGER_PATHS.logout.path, { method: 'POST', body: {} });
  dropPageToken();
  globalThis.location.assign('/');
}

export const SessionContext = createContext<ApiSession | undefined>(undefined);

/** Only inside the page of somebody who is logged in. */
export function useSession(): ApiSession {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('There is no session.');
  return session;
}

const RANKS = { viewer: 0, developer: 0, team_admin: 1, platform_admin: 2, owner: 2 } as const;

/** Whether this session may change things that are for this role. */
export function useMay(role: 'team_admin' | 'platform_admin' | 'owner'): boolean {
  return RANKS[useSession().role] >= RANKS[role];
}

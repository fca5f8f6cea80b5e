// The page logs in with a key, and is known by its session from then on.
import { type ApiSession, GATEWAY_ENDPOINTS } from '@subluminal/contracts';
import { isHttpFailure } from '@subluminal/plane/api/http-failure';
import { readInput } from '@subluminal/plane/api/read-request';
import { hasKeyHeader } from '../auth/index.ts';
import { recordEvent } from './audit-log.ts';
import type { Routes } from './routes.ts';
import type { GatewayApiOptions } from './types.ts';

export function addSessionRoutes(routes: Routes, options: GatewayApiOptions): void {
  const { pageKeys, version } = options;
  const { login, logout, session } = GATEWAY_ENDPOINTS;
  routes.addOpen(login, async ({ context, address, traceId }) => {
    const { incoming } = context.env;
    const input = await readInput(incoming, login.input);
    if (isHttpFailure(input)) return input;
    const { api_key: apiKey } = input;
    const caller = await routes.callerOf(apiKey, address);
    if (isHttpFailure(caller)) return caller;
    const { pageToken, setCookie } = pageKeys.begin(incoming, apiKey);
    const detail = { key_id: caller.keyId };
    await recordEvent(options, { traceId, caller, eventType: 'page_login', detail });
    context.header('set-cookie', setCookie);
    return { page_token: pageToken };
  });
  routes.addOpen(logout, async ({ context }) => {
    const { incoming } = context.env;
    const input = await readInput(incoming, logout.input);
    if (isHttpFailure(input)) return input;
    context.header('set-cookie', pageKeys.end(incoming));
    return { logged_out: 'yes' };
  });
  routes.add(session, ({ caller, context }) => {
    const { incoming } = context.env;
    const expiresMs = hasKeyHeader(incoming) ? undefined : pageKeys.read(incoming)?.expiresMs;
    const answer: ApiSession = {
      plane: 'gateway',
      user: caller.userId,
      role: caller.role,
      version,
      expires_at_ms: expiresMs ?? null,
    };
    return answer;
  });
}

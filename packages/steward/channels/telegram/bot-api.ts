// grammY's client of the Bot API. In a file of its own, so that it is loaded only where Telegram is used.
import type { Agent } from 'node:https';
import { Api, GrammyError } from 'grammy';
import type { FailedSend } from '../shared/types.ts';

/** Polls last half a minute; everything has a little longer. */
const TIMEOUT_S = 50;

interface BotApiOptions {
  readonly token: string;
  readonly apiRoot: string | undefined;
  readonly agent: Agent;
}

export function botApi({ token, apiRoot, agent }: BotApiOptions): Api {
  return new Api(token, {
    timeoutSeconds: TIMEOUT_S,
    ...(!apiRoot?.startsWith('http:') && { baseFetchConfig: { agent, compress: true } }),
    ...(apiRoot !== undefined && { apiRoot: apiRoot.replace(/\/$/, '') }),
  });
}

/** The address of a call holds the token, so nothing of an error is shown but its number. */
export function failedCall(cause: unknown): FailedSend {
  if (!(cause instanceof GrammyError)) {
    return { kind: 'later', why: 'Telegram cannot be reached.' };
  }
  const { error_code: code, parameters } = cause;
  const afterMs = (parameters.retry_after ?? 0) * 1_000;
  if (code === 429) return { kind: 'later', why: 'Telegram limits the rate.', afterMs };
  if (code >= 500) return { kind: 'later', why: `Telegram answers with ${code}.` };
  if (code === 401 || code === 404) return { kind: 'refused', why: 'Telegram refuses the token.' };
  return { kind: 'refused', why: `Telegram refuses (${code}).` };
}

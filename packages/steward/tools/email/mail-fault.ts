// Why a mail server did not do what it was asked. What it says may repeat what it was told, so the password
// is looked for in every text.
import { isObject } from '@subluminal/contracts';
import { createRedactor } from '@subluminal/core/scan';
import { visible } from '@subluminal/core/visible';
import { isLoopbackHost } from '@subluminal/plane/os';
import type { MailHost } from './types.ts';

const TEXT_MAX = 200;
const UNTRUSTED = /^(?:ERR_TLS|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|ERR_SSL|EPROTO)/;

const REASONS: { readonly [code: string]: string } = {
  EAUTH: 'refuses the login',
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'is not known by that name',
  EDNS: 'is not known by that name',
  EAI_AGAIN: 'is not known by that name',
  CONNECT_TIMEOUT: 'did not answer in time',
  GREETING_TIMEOUT: 'did not answer in time',
  UPGRADE_TIMEOUT: 'did not answer in time',
  ETIMEOUT: 'did not answer in time',
  ETIMEDOUT: 'did not answer in time',
  ETLS: 'does not offer the encryption that is asked for',
  LineTooLarge: 'sends more than is read',
  LiteralTooLarge: 'sends more than is read',
  ResponseTooLarge: 'sends more than is read',
};

/** A person must not be made to send a password over an open line by a slip in a file. */
export function openLineProblem({ host, tls }: MailHost): string | undefined {
  if (tls !== 'none' || isLoopbackHost(host)) return undefined;
  return `The mail server ${visible(host, 100)} may only be reached with TLS: set tls to implicit or starttls.`;
}

export interface FaultContext {
  readonly server: string;
  readonly password: string;
  readonly signal: AbortSignal;
}

/** One sentence, without secrets. */
export function mailFault(cause: unknown, { server, password, signal }: FaultContext): string {
  if (signal.aborted) {
    const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
    return isTimeout ? `The ${server} did not answer in time.` : 'It was cancelled.';
  }
  const { code, response, responseText, authenticationFailed, tlsFailed } = isObject(cause)
    ? cause
    : {};
  if (authenticationFailed === true) return `The ${server} refuses the login.`;
  if (tlsFailed === true) return `The ${server} does not offer the encryption that is asked for.`;
  const known = typeof code === 'string' ? REASONS[code] : undefined;
  if (known !== undefined) return `The ${server} ${known}.`;
  if (typeof code === 'string' && UNTRUSTED.test(code)) {
    return `The ${server} shows a certificate that is not trusted.`;
  }
  const said = typeof responseText === 'string' ? responseText : response;
  if (typeof said === 'string') {
    const plain = createRedactor({ values: [{ name: 'mail', value: password }] }).plain(said);
    return `The ${server} says: ${visible(plain, TEXT_MAX)}`;
  }
  return `The connection to the ${server} was lost.`;
}

// What the mail tools need to know about an account: its section of integrations.yaml, and a way to its password.
import type { Failure, IntegrationsFile } from '@subluminal/contracts';

export type EmailAccount = NonNullable<IntegrationsFile['email']>;

export interface EmailServerOptions {
  readonly account: EmailAccount;
  /** Fetched for each connection and kept nowhere. */
  readonly password: () => Promise<string | Failure>;
  /** For one use of a tool. */
  readonly timeoutMs?: number;
}

/** One of the two servers of an account. */
export interface MailHost {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly user: string;
}

const PORTS = { imap: { implicit: 993, plain: 143 }, smtp: { implicit: 465, plain: 587 } };

export function mailHost(account: EmailAccount, protocol: 'imap' | 'smtp'): MailHost {
  const { host, tls, port } = account[protocol];
  const usual = PORTS[protocol][tls === 'implicit' ? 'implicit' : 'plain'];
  return { host, port: port ?? usual, tls, user: account.user ?? account.address };
}

// What the mail tools need to know about an account: its section of integrations.yaml, and a way to its password.
import type { Failure, IntegrationsFile } from '@subluminal/contracts';
import { tunnelProxy } from '@subluminal/plane/upstream';

export type EmailAccount = NonNullable<IntegrationsFile['email']>;

export interface EmailServerOptions {
  readonly account: EmailAccount;
  /** Fetched for each connection and kept nowhere. */
  readonly password: () => Promise<string | Failure>;
  /** Of this process, for its proxy. */
  readonly env: { readonly [name: string]: string | undefined };
  /** For one use of a tool. */
  readonly timeoutMs?: number;
}

/** One of the two servers of an account. */
export interface MailHost {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly user: string;
  /** The proxy that leads there. */
  readonly proxy: URL | undefined;
}

const PORTS = { imap: { implicit: 993, plain: 143 }, smtp: { implicit: 465, plain: 587 } };

/** Throws for a proxy that is no URL. */
export function mailHost(
  { account, env }: Pick<EmailServerOptions, 'account' | 'env'>,
  protocol: 'imap' | 'smtp',
): MailHost {
  const { host, tls, port: given } = account[protocol];
  const usual = PORTS[protocol][tls === 'implicit' ? 'implicit' : 'plain'];
  const port = given ?? usual;
  const user = account.user ?? account.address;
  return { host, port, tls, user, proxy: tunnelProxy(env, { host, port }) };
}

// Hands a mail to the server that sends it, and knows whether it may have been taken.
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { openTunnel } from '@subluminal/plane/upstream';
import type { MailHost } from './types.ts';

export interface SmtpJob {
  readonly host: MailHost;
  readonly password: string;
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: Buffer;
  readonly signal: AbortSignal;
}

export type SmtpOutcome =
  | { readonly kind: 'sent'; readonly refused: readonly string[] }
  /** Nobody gets it. */
  | { readonly kind: 'unsent'; readonly cause: unknown }
  /** The server had begun to read it, and never said what became of it. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

export async function sendBySmtp(job: SmtpJob): Promise<SmtpOutcome> {
  const { default: SmtpConnection } = await import('nodemailer/lib/smtp-connection');
  const { host, password, envelope, raw, signal } = job;
  let hasBegun = false;
  const message = new Readable({
    read() {
      hasBegun = true;
      this.push(raw);
      this.push(null);
    },
  });
  const { tls, proxy } = host;
  let tunnel: Socket | undefined;
  try {
    tunnel = proxy && (await openTunnel(proxy, host));
  } catch (cause) {
    return { kind: 'unsent', cause };
  }
  const connection = new SmtpConnection({
    host: host.host,
    port: host.port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    logger: false,
    ...(tunnel !== undefined && { connection: tunnel }),
  });
  const onAbort = (): void => connection.close();
  signal.addEventListener('abort', onAbort);
  try {
    return await new Promise<SmtpOutcome>((resolve, reject) => {
      connection.on('error', reject);
      connection.on('end', () => reject(new Error('The connection was closed.')));
      connection.connect((refused) => {
        if (refused) return reject(refused);
        connection.login({ user: host.user, pass: password }, (unknown) => {
          if (unknown) return reject(unknown);
          connection.send(
            { from: envelope.from, to: [...envelope.to] },
            message,
            (failed, info) => {
              if (failed) reject(failed);
              else resolve({ kind: 'sent', refused: info?.rejected.map(String) ?? [] });
            },
          );
        });
      });
    });
  } catch (cause) {
    const isRefused = cause instanceof Error && 'responseCode' in cause;
    return { kind: hasBegun && !isRefused ? 'unknown' : 'unsent', cause };
  } finally {
    signal.removeEventListener('abort', onAbort);
    connection.close();
  }
}

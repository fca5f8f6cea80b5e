// A connection to the mailbox for one use of a tool: nothing is kept open, nothing is marked as read.
import type { ImapFlow, ImapFlowOptions, SearchObject } from 'imapflow';
import type { MailHost } from './types.ts';

/** A whole message is never longer than this; the rest of it is not fetched. */
export const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
const LINE_BYTES_MAX = 1024 * 1024;
const RESPONSE_BYTES_MAX = MESSAGE_BYTES_MAX + LINE_BYTES_MAX;

export interface MailboxLogin {
  readonly host: MailHost;
  readonly password: string;
  readonly signal: AbortSignal;
}

export async function withMailbox<T>(
  { host, password, signal }: MailboxLogin,
  work: (mailbox: ImapFlow) => Promise<T>,
): Promise<T> {
  const { ImapFlow: Client } = await import('imapflow');
  signal.throwIfAborted();
  const mailbox = new Client(settingsFor(host, password));
  // It is heard of by whoever waits for an answer as well.
  mailbox.on('error', () => {});
  const onAbort = (): void => mailbox.close();
  signal.addEventListener('abort', onAbort);
  try {
    await mailbox.connect();
    const done = await work(mailbox);
    await mailbox.logout().catch(() => {});
    return done;
  } finally {
    signal.removeEventListener('abort', onAbort);
    mailbox.close();
  }
}

function settingsFor({ host, port, tls, user, proxy }: MailHost, pass: string): ImapFlowOptions {
  return {
    host,
    port,
    secure: tls === 'implicit',
    ...(tls !== 'implicit' && { doSTARTTLS: tls === 'starttls' }),
    ...(proxy !== undefined && { proxy: proxy.href }),
    auth: { user, pass },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    maxLineLength: LINE_BYTES_MAX,
    maxLiteralSize: MESSAGE_BYTES_MAX,
    maxResponseSize: RESPONSE_BYTES_MAX,
  };
}

/** Runs with one folder selected; changes nothing in it unless `isWriting`. */
export async function inFolder<T>(
  mailbox: ImapFlow,
  { folder, isWriting = false }: { readonly folder: string; readonly isWriting?: boolean },
  work: () => Promise<T>,
): Promise<T> {
  const lock = await mailbox.getMailboxLock(folder, { readOnly: !isWriting });
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** The folder that the server says is for this, else one by that name, which is made where it is missing. */
export async function specialFolder(mailbox: ImapFlow, name: 'Sent' | 'Drafts'): Promise<string> {
  const folders = await mailbox.list();
  const marked = folders.find(({ specialUse }) => specialUse === `\\${name}`);
  const found = marked ?? folders.find(({ path }) => path.toLowerCase() === name.toLowerCase());
  return found?.path ?? (await mailbox.mailboxCreate(name)).path;
}

/** The numbers of the messages with that id. */
export async function findMessage(
  mailbox: ImapFlow,
  folder: string,
  messageId: string,
): Promise<readonly number[]> {
  return inFolder(mailbox, { folder }, () =>
    searchFolder(mailbox, { header: { 'message-id': messageId } }),
  );
}

/** A search that failed must not pass for one that found nothing: a mail would be sent twice. */
export async function searchFolder(
  mailbox: ImapFlow,
  query: SearchObject,
): Promise<readonly number[]> {
  const found = await mailbox.search(query, { uid: true });
  if (!Array.isArray(found)) throw new Error('The search failed.');
  return found;
}

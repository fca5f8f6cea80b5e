// Sends a mail once, whatever dies in between. A draft with the mail's id is left before it is handed over, and
// goes when the copy among the sent ones is there. So a repeated step finds either: sent, or begun and unsure.

import { visible } from '@subluminal/core/visible';
import type { OwnAnswer } from '@subluminal/plane/agent-run';
import type { ImapFlow } from 'imapflow';
import { type OutgoingMail, recipientsOf } from './compose.ts';
import { mailFault } from './mail-fault.ts';
import { findMessage, inFolder, specialFolder } from './mailbox.ts';
import { sendBySmtp } from './smtp.ts';
import type { EmailAccount, MailHost } from './types.ts';

export interface SendingMail {
  readonly account: EmailAccount;
  readonly smtp: MailHost;
  readonly password: string;
  readonly signal: AbortSignal;
  readonly mail: OutgoingMail;
  readonly messageId: string;
  readonly raw: Buffer;
}

export async function sendOnce(mailbox: ImapFlow, job: SendingMail): Promise<OwnAnswer> {
  const { account, smtp, password, signal, mail, messageId, raw } = job;
  const sent = account.sent_folder ?? (await specialFolder(mailbox, 'Sent'));
  if ((await findMessage(mailbox, sent, messageId)).length > 0) {
    return { text: `It was sent before. ${summary(mail)}` };
  }
  const drafts = await specialFolder(mailbox, 'Drafts');
  if ((await findMessage(mailbox, drafts, messageId)).length > 0) {
    return { text: `${UNSURE} It was not sent again.`, isError: true };
  }
  const kept = await mailbox.append(drafts, raw, ['\\Draft', '\\Seen']);
  if (!kept) return { text: 'The mail server keeps no draft. Nothing was sent.', isError: true };
  const to = recipientsOf(mail);
  const outcome = await sendBySmtp({
    host: smtp,
    password,
    envelope: { from: account.address, to },
    raw,
    signal,
  });
  if (outcome.kind === 'unsent') {
    await dropDraft(mailbox, drafts, messageId);
    const why = mailFault(outcome.cause, { server: 'server for outgoing mail', password, signal });
    return { text: `${why} Nothing was sent.`, isError: true };
  }
  if (outcome.kind === 'unknown') return { text: UNSURE, isError: true };
  await fileAway(mailbox, { sent, drafts, messageId, raw });
  const refused = outcome.refused.map((address) => visible(address, 100)).join(', ');
  if (refused === '') return { text: `Sent. ${summary(mail)}` };
  return { text: `Sent, but the server refuses these recipients: ${refused}.`, isError: true };
}

const UNSURE =
  'The connection was lost while the mail was handed over: it may have been sent, or not. A copy of it is among the drafts. Tell the user, who can find out and send it from there.';

function summary(mail: OutgoingMail): string {
  return `To: ${recipientsOf(mail).join(', ')}. Subject: ${visible(mail.subject, 200)}`;
}

/** The mail is on its way: that it cannot be filed is no reason to call it unsent. */
async function fileAway(mailbox: ImapFlow, filed: FiledMail): Promise<void> {
  const { sent, drafts, messageId, raw } = filed;
  try {
    // Some servers keep a copy by themselves.
    const copies = await findMessage(mailbox, sent, messageId);
    const isFiled = copies.length > 0 || (await mailbox.append(sent, raw, ['\\Seen']));
    if (!isFiled) return;
    await dropDraft(mailbox, drafts, messageId);
  } catch {
    // The draft stays, so a repeated step asks the user instead of sending again.
  }
}

interface FiledMail {
  readonly sent: string;
  readonly drafts: string;
  readonly messageId: string;
  readonly raw: Buffer;
}

async function dropDraft(mailbox: ImapFlow, drafts: string, messageId: string): Promise<void> {
  const found = await findMessage(mailbox, drafts, messageId);
  if (found.length === 0) return;
  await inFolder(mailbox, { folder: drafts, isWriting: true }, () =>
    mailbox.messageDelete([...found], { uid: true }),
  );
}

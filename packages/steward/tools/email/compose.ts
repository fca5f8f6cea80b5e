// From the arguments of a tool to the bytes of a mail. The sender is the account's, whatever is asked for.

import { visible } from '@subluminal/core/visible';
import { sha256 } from '@subluminal/plane/crypto';
import type { EmailAccount } from './types.ts';

export interface OutgoingMail {
  readonly to: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  readonly subject: string;
  readonly body: string;
}

/** The message that a mail answers. */
export interface AnsweredMail {
  readonly messageId: string;
  readonly references: readonly string[];
}

/** An address alone. Names, groups, comments and quotes are where a second address hides. */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@[^\s@<>()[\]\\,;:"\p{C}]+\.[^\s@<>()[\]\\,;:"\p{C}]+$/u;
const ADDRESS_LENGTH_MAX = 254;

/** Why a recipient is none; undefined when all are. */
export function recipientProblem(mail: OutgoingMail): string | undefined {
  const wrong = recipientsOf(mail).find(
    (address) => address.length > ADDRESS_LENGTH_MAX || !ADDRESS.test(address),
  );
  if (wrong === undefined) return undefined;
  return `${visible(wrong, 100)} is no address like name@example.com. Give the address alone, without a name.`;
}

export function recipientsOf({ to, cc = [], bcc = [] }: OutgoingMail): readonly string[] {
  return [...new Set([...to, ...cc, ...bcc])];
}

/** The same for the same key, so that a mail can be found again. */
export function messageIdFor(key: string, { address }: EmailAccount): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return `<${sha256(`mail\0${key}`).slice(0, 40)}@${domain}>`;
}

export async function composeMail(
  mail: OutgoingMail,
  { account, messageId, answered }: ComposeOptions,
): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const { address, name } = account;
  const composer = new MailComposer({
    from: name === undefined ? address : { name, address },
    to: [...mail.to],
    ...(mail.cc !== undefined && { cc: [...mail.cc] }),
    subject: mail.subject.replaceAll(/[\r\n]+/g, ' '),
    text: mail.body,
    messageId,
    ...(answered !== undefined && {
      inReplyTo: answered.messageId,
      references: [...answered.references, answered.messageId],
    }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

interface ComposeOptions {
  readonly account: EmailAccount;
  readonly messageId: string;
  readonly answered: AnsweredMail | undefined;
}

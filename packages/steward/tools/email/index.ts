// The mail of the user: search, read, draft and send. The account and its password are the user's configuration;
// no argument of a tool says where a connection goes or who the sender is.
import { type Infer, isFailure } from '@subluminal/contracts';
import {
  array,
  boolean,
  closed,
  defaulted,
  integer,
  optional,
  required,
  string,
} from '@subluminal/contracts/shape';
import { visible } from '@subluminal/core/visible';
import {
  errorAnswer,
  type OwnAnswer,
  type OwnServer,
  ownTool,
  type ToolUseContext,
} from '@subluminal/plane/agent-run';
import type { FetchMessageObject, ImapFlow, SearchObject } from 'imapflow';
import { type AnsweredMail, composeMail, messageIdFor, recipientProblem } from './compose.ts';
import { mailFault, openLineProblem } from './mail-fault.ts';
import {
  findMessage,
  inFolder,
  MESSAGE_BYTES_MAX,
  searchFolder,
  specialFolder,
  withMailbox,
} from './mailbox.ts';
import { messageText, parseMessage } from './read-message.ts';
import { sendOnce } from './send-mail.ts';
import { type EmailServerOptions, mailHost } from './types.ts';

export type { EmailServerOptions } from './types.ts';

const TIMEOUT_MS = 60_000;
const RECIPIENTS_MAX = 10;
const FOUND_MAX = 50;
const BODY_LENGTH_MAX = 50_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const folder = defaulted(string({ lengthMax: 200 }), 'INBOX', 'The folder.');
const addressList = array(string({ lengthMax: 254 }), { itemsMin: 1, itemsMax: RECIPIENTS_MAX });

const SEARCH = closed({
  folder,
  text: optional(string({ lengthMax: 200 }), 'Words anywhere in the mail.'),
  from: optional(string({ lengthMax: 200 }), 'Part of the sender.'),
  to: optional(string({ lengthMax: 200 }), 'Part of a recipient.'),
  subject: optional(string({ lengthMax: 200 }), 'Part of the subject.'),
  since: optional(string({ lengthMax: 10 }), 'Received on this day or later, such as 2026-11-30.'),
  before: optional(string({ lengthMax: 10 }), 'Received before this day, such as 2026-12-01.'),
  unread: optional(boolean(), 'Only mails that are unread, or only those that are not.'),
  limit: defaulted(integer({ min: 1, max: FOUND_MAX }), 20, 'The newest so many.'),
});

const READ = closed({
  folder,
  uid: required(integer({ min: 1, max: 0xffff_ffff }), 'The number of the mail, from `search`.'),
  offset: defaulted(integer({ min: 0, max: 10_000_000 }), 0, 'Where to begin in a long text.'),
  attachment: optional(integer({ min: 1, max: 100 }), 'The attachment to read instead, by number.'),
});

const OUTGOING = {
  to: required(addressList, 'Addresses alone, without names.'),
  cc: optional(addressList, 'Addresses of those who get a copy.'),
  subject: required(string({ lengthMin: 0, lengthMax: 500 }), 'The subject.'),
  body: required(string({ lengthMax: BODY_LENGTH_MAX }), 'Plain text.'),
  reply_to_uid: optional(integer({ min: 1, max: 0xffff_ffff }), 'The mail that this one answers.'),
  reply_to_folder: defaulted(string({ lengthMax: 200 }), 'INBOX', 'The folder of that mail.'),
};
const MAIL = closed(OUTGOING);
const MAIL_WITH_BCC = closed({
  ...OUTGOING,
  bcc: optional(addressList, 'Addresses that the others do not see.'),
});
type MailArgs = Infer<typeof MAIL_WITH_BCC>;

interface MailUse {
  readonly password: string;
  readonly signal: AbortSignal;
}

export function emailServer(options: EmailServerOptions): OwnServer {
  const mail = options.account.allow_bcc ? MAIL_WITH_BCC : MAIL;
  return {
    name: 'email',
    instructions: 'The mailbox of the user. What mails say was written by others.',
    tools: [
      ownTool({
        name: 'search',
        description: 'Finds mails and lists them, newest first.',
        input: SEARCH,
        annotations: { readOnlyHint: true, openWorldHint: true },
        call: (args, use) => inMailbox(options, use, (mailbox) => search(mailbox, args)),
      }),
      ownTool({
        name: 'read',
        description: 'Reads one mail as text, or one of its attachments. It stays unread.',
        input: READ,
        annotations: { readOnlyHint: true, openWorldHint: true },
        call: (args, use) => inMailbox(options, use, (mailbox) => read(mailbox, args)),
      }),
      ownTool({
        name: 'draft',
        description: 'Puts a mail among the drafts. It is not sent.',
        input: mail,
        annotations: { idempotentHint: true, destructiveHint: false, openWorldHint: true },
        call: (args, use) => writeMail(options, { args, use, isSent: false }),
      }),
      ownTool({
        name: 'send',
        description: 'Sends a mail from the address of the user.',
        input: mail,
        annotations: { idempotentHint: true, destructiveHint: true, openWorldHint: true },
        call: (args, use) => writeMail(options, { args, use, isSent: true }),
      }),
    ],
  };
}

async function inMailbox(
  options: EmailServerOptions,
  use: ToolUseContext,
  work: (mailbox: ImapFlow, use: MailUse) => Promise<OwnAnswer>,
): Promise<OwnAnswer> {
  const { password, timeoutMs = TIMEOUT_MS } = options;
  const imap = mailHost(options, 'imap');
  const problem = openLineProblem(imap) ?? openLineProblem(mailHost(options, 'smtp'));
  if (problem !== undefined) return { text: problem, isError: true };
  const secret = await password();
  if (isFailure(secret)) {
    const message = `The password of the mail account cannot be had: ${secret.message}`;
    return errorAnswer({ ...secret, message });
  }
  const signal = AbortSignal.any([use.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    return await withMailbox({ host: imap, password: secret, signal }, (mailbox) =>
      work(mailbox, { password: secret, signal }),
    );
  } catch (cause) {
    const text = mailFault(cause, { server: 'mail server', password: secret, signal });
    return { text, isError: true };
  }
}

async function search(mailbox: ImapFlow, args: Infer<typeof SEARCH>): Promise<OwnAnswer> {
  const query = searchQuery(args);
  if (typeof query === 'string') return { text: query, isError: true };
  return inFolder(mailbox, args, async () => {
    const found = await searchFolder(mailbox, query);
    const newest = found.toSorted((one, other) => other - one).slice(0, args.limit);
    if (newest.length === 0) return { text: 'No mail was found.' };
    const parts = { uid: true, envelope: true, flags: true, internalDate: true } as const;
    const mails = await mailbox.fetchAll(newest, parts, { uid: true });
    const lines = mails.toSorted((one, other) => other.uid - one.uid).map(listed);
    const more =
      found.length > newest.length
        ? [`${found.length - newest.length} older ones match as well.`]
        : [];
    return { text: [...lines, ...more].join('\n') };
  });
}

function searchQuery(args: Infer<typeof SEARCH>): SearchObject | string {
  const { text, from, to, subject, since, before, unread } = args;
  const wrong = [since, before].find(
    (day) => day !== undefined && (!DAY.test(day) || Number.isNaN(Date.parse(day))),
  );
  if (wrong !== undefined) return `${visible(wrong, 20)} is no day like 2026-11-30.`;
  return {
    all: true,
    ...(text !== undefined && { text }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(subject !== undefined && { subject }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
    ...(unread !== undefined && { seen: !unread }),
  };
}

function listed({ uid, envelope, flags, internalDate }: FetchMessageObject): string {
  const date = new Date(envelope?.date ?? internalDate ?? Number.NaN);
  const when = Number.isNaN(date.getTime()) ? 'no date' : date.toISOString();
  const [sender] = envelope?.from ?? [];
  const from = [sender?.name, sender?.address && `<${sender.address}>`].filter(Boolean).join(' ');
  const unread = flags?.has('\\Seen') ? '' : ', unread';
  const subject = visible(envelope?.subject ?? 'no subject', 200);
  return `uid ${uid}, ${when}${unread}, from ${visible(from || 'unknown', 200)}: ${subject}`;
}

async function read(mailbox: ImapFlow, args: Infer<typeof READ>): Promise<OwnAnswer> {
  const { uid, offset, attachment } = args;
  return inFolder(mailbox, args, async () => {
    const found = await fetchSource(mailbox, uid);
    if (found === undefined)
      return { text: `There is no mail ${uid} in this folder.`, isError: true };
    const text = messageText(await parseMessage(found.source), { offset, attachment });
    if (!found.isCut) return { text };
    return { text: `${text}\n[the mail is too large: only its first part was read]` };
  });
}

async function fetchSource(mailbox: ImapFlow, uid: number) {
  const query = { size: true, source: { maxLength: MESSAGE_BYTES_MAX } };
  const found = await mailbox.fetchOne(String(uid), query, { uid: true });
  if (!found || found.source === undefined) return undefined;
  return { source: found.source, isCut: (found.size ?? 0) > found.source.length };
}

interface MailUseArgs {
  readonly args: MailArgs;
  readonly use: ToolUseContext;
  readonly isSent: boolean;
}

function writeMail(options: EmailServerOptions, wanted: MailUseArgs): Promise<OwnAnswer> {
  const { args: mail, use, isSent } = wanted;
  const { account } = options;
  const problem = recipientProblem(mail);
  if (problem !== undefined) return Promise.resolve({ text: problem, isError: true });
  return inMailbox(options, use, async (mailbox, { password, signal }) => {
    const answered = await answeredMail(mailbox, mail);
    if (answered === 'missing') {
      return { text: `There is no mail ${mail.reply_to_uid} to answer.`, isError: true };
    }
    const messageId = messageIdFor(use.key, account);
    const raw = await composeMail(mail, { account, messageId, answered });
    if (isSent) {
      const smtp = mailHost(options, 'smtp');
      return sendOnce(mailbox, { account, smtp, password, signal, mail, messageId, raw });
    }
    const drafts = await specialFolder(mailbox, 'Drafts');
    const isThere = (await findMessage(mailbox, drafts, messageId)).length > 0;
    const isKept = isThere || (await mailbox.append(drafts, raw, ['\\Draft', '\\Seen']));
    if (!isKept) return { text: 'The mail server keeps no draft.', isError: true };
    return { text: 'The mail is among the drafts. It was not sent.' };
  });
}

async function answeredMail(
  mailbox: ImapFlow,
  { reply_to_uid: uid, reply_to_folder: replyFolder }: MailArgs,
): Promise<AnsweredMail | 'missing' | undefined> {
  if (uid === undefined) return undefined;
  const found = await inFolder(mailbox, { folder: replyFolder ?? 'INBOX' }, () =>
    fetchSource(mailbox, uid),
  );
  if (found === undefined) return 'missing';
  const { messageId, references } = await parseMessage(found.source);
  if (messageId === undefined) return undefined;
  return { messageId, references: referenceIds(references ?? '') };
}

const REFERENCES_MAX = 20;

function referenceIds(text: string): readonly string[] {
  return (text.match(/<[^<>\s]{1,250}>/g) ?? []).slice(-REFERENCES_MAX);
}

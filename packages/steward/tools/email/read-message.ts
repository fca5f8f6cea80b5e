// A mail as text for a model: who, what, and what is attached. All of it was written by strangers.
import { cutContent } from '@subluminal/core/detect';
import { visible } from '@subluminal/core/visible';
import type { Address, Attachment, Email } from 'postal-mime';
import { htmlText } from '../../text/index.ts';

const TEXT_CHARS_MAX = 20_000;
const HTML_CHARS_MAX = 200_000;
const LINKS_MAX = 20;
const NAME_MAX = 200;
const ATTACHMENTS_MAX = 20;
const DEPTH_MAX = 20;
const HEADERS_BYTES_MAX = 256 * 1024;
const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|ics|csv|yaml|x-yaml)$|message\/)/;

export interface MessageView {
  /** Where the text begins. */
  readonly offset: number;
  /** The number of an attachment to read instead of the text. */
  readonly attachment: number | undefined;
}

export async function parseMessage(source: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import('postal-mime');
  return PostalMime.parse(source, {
    maxNestingDepth: DEPTH_MAX,
    maxHeadersSize: HEADERS_BYTES_MAX,
    // A forwarded mail is an attachment, and not part of what its sender wrote.
    forceRfc822Attachments: true,
  });
}

export function messageText(mail: Email, { offset, attachment }: MessageView): string {
  if (attachment !== undefined) return attachmentText(mail.attachments, attachment, offset);
  const { text, notes } = bodyOf(mail);
  const names = mail.attachments.slice(0, ATTACHMENTS_MAX).map(attachmentLine);
  const more = mail.attachments.length - names.length;
  return [
    ...headerLines(mail),
    '',
    part(text, offset),
    ...notes,
    ...(names.length > 0 ? ['', 'Attachments:', ...names] : []),
    ...(more > 0 ? [`… and ${more} more`] : []),
  ].join('\n');
}

function headerLines(mail: Email): readonly string[] {
  const lines = [
    ['From', addresses(mail.from === undefined ? [] : [mail.from])],
    ['Reply-To', addresses(mail.replyTo ?? [])],
    ['To', addresses(mail.to ?? [])],
    ['Cc', addresses(mail.cc ?? [])],
    ['Date', mail.date ?? ''],
    ['Subject', mail.subject ?? ''],
  ] as const;
  return lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${visible(value, NAME_MAX * 5)}`);
}

function addresses(list: readonly Address[]): string {
  const flat = list.flatMap((one) => one.group ?? [one]);
  return flat.map(({ name, address }) => (name ? `${name} <${address}>` : address)).join(', ');
}

/** What a mail program shows: HTML where there is some, for a text beside it could say something else. */
function bodyOf({ html, text }: Email): {
  readonly text: string;
  readonly notes: readonly string[];
} {
  if (html === undefined) return { text: (text ?? '').trim(), notes: [] };
  const shown = htmlText(html, { charsMax: HTML_CHARS_MAX, linksMax: LINKS_MAX });
  const notes: string[] = [];
  if (shown.hiddenChars > 0) {
    notes.push(`[${shown.hiddenChars} characters that a reader does not see were left out]`);
  }
  if (shown.links.length > 0) {
    notes.push('', 'Links:', ...shown.links.map((link) => `- ${visible(link, NAME_MAX * 2)}`));
  }
  return { text: shown.text, notes };
}

function attachmentLine({ filename, mimeType, content }: Attachment, index: number): string {
  const name = visible(filename ?? 'without a name', NAME_MAX);
  return `${index + 1}. ${name} (${visible(mimeType, 100)}, ${bytesOf(content).length} bytes)`;
}

function attachmentText(list: readonly Attachment[], number: number, offset: number): string {
  const found = list[number - 1];
  if (found === undefined) return `The mail has no attachment ${number}.`;
  if (!TEXT_TYPES.test(found.mimeType)) {
    return `${attachmentLine(found, number - 1)}\nIt is no text, so it cannot be read.`;
  }
  const text = new TextDecoder().decode(bytesOf(found.content));
  const isHtml = found.mimeType === 'text/html';
  const shown = isHtml ? htmlText(text, { charsMax: HTML_CHARS_MAX, linksMax: 0 }).text : text;
  return `${attachmentLine(found, number - 1)}\n\n${part(shown, offset)}`;
}

function part(text: string, offset: number): string {
  const rest = text.slice(offset);
  const cut = cutContent(rest, TEXT_CHARS_MAX);
  if (rest.length <= TEXT_CHARS_MAX) return cut;
  return `${cut}\n[read on with offset ${offset + TEXT_CHARS_MAX}]`;
}

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

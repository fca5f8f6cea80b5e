// A mail provider for tests: a real SMTP server, and an IMAP server with a mailbox in memory.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import hoodiecrow from 'hoodiecrow-imap';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

export interface MailStandIn {
  readonly user: string;
  readonly password: string;
  readonly imapPort: number;
  readonly smtpPort: number;
  /** What was handed over to be sent. */
  readonly received: readonly ReceivedMail[];
  /** Puts a mail into a folder, as if it had come. */
  deliver(raw: string, folder?: string): void;
  /** The mails in a folder, as they are. */
  folder(name: string): readonly string[];
  /** Recipients that the SMTP server refuses. */
  readonly refused: Set<string>;
  /** What it says then. */
  refusal: string;
  /** Runs for each mail that has come whole, before the server says so; it may cut the line. */
  onReceived: ((cut: () => void) => void) | undefined;
  stop(): Promise<void>;
}

const PLUGINS = ['ID', 'SASL-IR', 'AUTH-PLAIN', 'NAMESPACE', 'IDLE', 'LITERALPLUS', 'UNSELECT'];
const FOLDERS = { Sent: { 'special-use': '\\Sent' }, Drafts: { 'special-use': '\\Drafts' } };

export async function startMail(password = 'correct horse battery'): Promise<MailStandIn> {
  const user = 'ada@example.com';
  const imap = hoodiecrow({
    plugins: [...PLUGINS, 'SPECIAL-USE', 'CREATE-SPECIAL-USE', 'UIDPLUS'],
    users: { [user]: { password } },
    // The server keeps its mails in these objects.
    storage: { INBOX: { messages: [] }, '': { separator: '/', folders: structuredClone(FOLDERS) } },
  });
  imap.server.on('connection', (socket: Socket) => socket.setNoDelay(true));
  imap.server.listen(0, '127.0.0.1');
  await once(imap.server, 'listening');

  const received: ReceivedMail[] = [];
  const refused = new Set<string>();
  const smtp = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _session, done) => {
      if (auth.username === user && auth.password === password) done(null, { user });
      // A server that repeats what it was told.
      else done(new Error(`Wrong password ${auth.password} for ${auth.username}`));
    },
    onRcptTo: ({ address }, _session, done) => {
      done(refused.has(address) ? new Error(standIn.refusal) : null);
    },
    onData: (stream, session, done) => {
      void bodyOf(stream).then((raw) => {
        received.push({ ...envelopeOf(session), raw });
        let isCut = false;
        standIn.onReceived?.(() => {
          isCut = true;
          for (const connection of smtp.connections) connection.close();
        });
        if (!isCut) done();
      });
    },
  });
  smtp.on('error', () => {});
  const listener = smtp.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const folderNamed = (name: string) => {
    const found = imap.getMailbox(name);
    if (found === undefined) throw new Error(`no folder ${name}`);
    return found;
  };
  const standIn: MailStandIn = {
    user,
    password,
    imapPort: (imap.server.address() as AddressInfo).port,
    smtpPort: (listener.address() as AddressInfo).port,
    received,
    refused,
    refusal: 'No such mailbox',
    onReceived: undefined,
    deliver: (raw, folder = 'INBOX') => {
      imap.appendMessage(folderNamed(folder), [], false, raw.replaceAll(/\r?\n/g, '\r\n'));
    },
    folder: (name) => folderNamed(name).messages.map(({ raw }) => raw.toString()),
    stop: async () => {
      imap.server.close();
      await new Promise<void>((resolve) => {
        smtp.close(() => resolve());
      });
    },
  };
  return standIn;
}

async function bodyOf(stream: SMTPServerDataStream): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function envelopeOf({ envelope }: SMTPServerSession): Pick<ReceivedMail, 'from' | 'to'> {
  const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
  return { from, to: envelope.rcptTo.map(({ address }) => address) };
}

// The demo task of Steward: read a mail, put its date into the calendar, answer. The model is scripted; mail and
// calendar are stand-ins that real client libraries talk to.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Conversation,
  kindGuardian,
  type Reply,
  type ScriptFunction,
} from './model-script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { type CalendarStandIn, startCalendar } from './stand-ins/calendar.ts';
import { type MailStandIn, startMail } from './stand-ins/mail.ts';
import { StewardHome } from './steward-home.ts';

export const REQUEST =
  'Read the mail of Ann about the meeting, put the date into my calendar, answer her.';
const MAIL = `From: Ann Lee <ann@example.com>
To: ada@example.com
Date: Mon, 16 Nov 2026 09:00:00 +0000
Subject: The meeting
Message-ID: <meeting@example.com>

Dear Ada, shall we meet on 26 November 2026 at 15:00, in room 2? Ann
`;

const STEPS: readonly Reply[] = [
  { uses: [use('email.search', { from: 'ann', reasoning: 'The user named the sender.' })] },
  { uses: [use('email.read', { uid: 1, reasoning: 'It is the mail of Ann.' })] },
  {
    uses: [
      use('calendar.create', {
        title: 'Meeting with Ann',
        start: '2026-11-26T15:00',
        location: 'Room 2',
        reasoning: 'The user wants the date in the calendar.',
      }),
    ],
  },
  {
    uses: [
      use('email.send', {
        to: ['ann@example.com'],
        subject: 'Re: The meeting',
        body: 'Dear Ann, the 26th at 15:00 suits me. Ada',
        reply_to_uid: 1,
        reasoning: 'The user wants an answer to Ann.',
      }),
    ],
  },
];

function use(name: string, args: { readonly [name: string]: unknown }) {
  return { name, args };
}

/** Says at the end what the last tool said, as an honest model does. */
function demoAgent({ results }: Conversation): Reply {
  return STEPS[results.length] ?? { text: `That is all. ${results.at(-1) ?? ''}` };
}

export interface DemoWorld {
  readonly mail: MailStandIn;
  readonly calendar: CalendarStandIn;
  readonly model: ScriptedModel;
  /** Of the home in which `init` has run; the configuration may serve other homes. */
  readonly home: StewardHome;
  readonly configFolder: string;
  newHome(): StewardHome;
  close(): Promise<void>;
}

/** Runs `sub steward init` in a fresh home, and connects it to mail and calendar. */
export async function openDemoWorld(agent: ScriptFunction = demoAgent): Promise<DemoWorld> {
  const top = mkdtempSync(join(tmpdir(), 'sub-steward-'));
  const [mail, calendar, model] = await Promise.all([
    startMail(),
    startCalendar(),
    startScriptedModel((said) => kindGuardian(said) ?? agent(said)),
  ]);
  mail.deliver(MAIL);
  const homes: StewardHome[] = [];
  const newHome = () => {
    const made = new StewardHome(join(top, String(homes.length)));
    homes.push(made);
    return made;
  };
  const home = newHome();
  const made = await home.sub('steward', 'init', '--model-url', model.url, '--model', 'agent');
  if (made.code !== 0) throw new Error(made.err);
  const configFolder = join(home.subHome, 'steward', 'config');
  connect(configFolder, { mail, calendar, model });
  return {
    ...{ mail, calendar, model, home, configFolder, newHome },
    close: async () => {
      await Promise.all(homes.map((one) => one.close()));
      await Promise.all([mail.stop(), calendar.stop(), model.close()]);
      rmSync(top, { recursive: true, force: true });
    },
  };
}

/** What the user writes into the files that `init` has made. */
function connect(
  folder: string,
  { mail, calendar, model }: Pick<DemoWorld, 'mail' | 'calendar' | 'model'>,
): void {
  const chain = (name: string) => [{ provider: 'openai_compat', base_url: model.url, model: name }];
  const line = (port: number) => ({ host: '127.0.0.1', port, tls: 'none' });
  const { imapPort, smtpPort, user } = mail;
  const servers = { imap: line(imapPort), smtp: line(smtpPort) };
  const integrations = {
    version: 1,
    models: { agent: chain('agent'), guardian: chain('guardian') },
    email: { address: user, password_ref: 'env://MAIL_PASSWORD', ...servers },
    calendar: { url: calendar.url, user: calendar.user, password_ref: 'env://MAIL_PASSWORD' },
  };
  writeFileSync(join(folder, 'integrations.yaml'), JSON.stringify(integrations));
  const guardrails = join(folder, 'guardrails.yaml');
  const contacts = 'contacts: [{ name: Ann, emails: [ann@example.com] }]';
  writeFileSync(guardrails, readFileSync(guardrails, 'utf8').replace('contacts: []', contacts));
}

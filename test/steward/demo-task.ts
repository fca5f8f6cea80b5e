// The demo task of Steward: read a mail, put its date into the calendar, answer. The model is scripted; mail and
// calendar are stand-ins that real client libraries talk to.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import type { Conversation, Reply, ScriptFunction } from './model-script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { type CalendarStandIn, startCalendar } from './stand-ins/calendar.ts';
import { type MailStandIn, startMail } from './stand-ins/mail.ts';

export const SUB = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'sub.mjs');
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

function guardian({ asked }: Conversation): Reply {
  const id = /Answer with \{"case": "([^"]+)"/.exec(asked)?.[1];
  const verdict = { case: id, verdict: 'ALLOW', reason: 'The user asked for it.' };
  return { text: JSON.stringify(verdict) };
}

export interface DemoWorld {
  readonly mail: MailStandIn;
  readonly calendar: CalendarStandIn;
  readonly model: ScriptedModel;
  /** Of the home in which `init` has run; the configuration may serve other homes. */
  readonly home: DemoHome;
  readonly configFolder: string;
  newHome(): DemoHome;
  close(): Promise<void>;
}

/** Runs `sub steward init` in a fresh home, and connects it to mail and calendar. */
export async function openDemoWorld(agent: ScriptFunction = demoAgent): Promise<DemoWorld> {
  const top = mkdtempSync(join(tmpdir(), 'sub-steward-'));
  const [mail, calendar, model] = await Promise.all([
    startMail(),
    startCalendar(),
    startScriptedModel({ agent, guardian }),
  ]);
  mail.deliver(MAIL);
  const homes: DemoHome[] = [];
  const newHome = () => {
    const made = new DemoHome(join(top, String(homes.length)));
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

export interface RunningChild {
  readonly child: ChildProcess;
  /** Whether it came so far as to answer. */
  readonly isReady: boolean;
}

export class DemoHome {
  readonly subHome: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #children = new Set<ChildProcess>();

  constructor(top: string) {
    mkdirSync(join(top, 'home'), { recursive: true });
    this.subHome = join(top, 'sub');
    const { PATH } = process.env;
    this.env = {
      ...{ PATH, HOME: join(top, 'home'), SUB_HOME: this.subHome, NO_COLOR: '1' },
      MAIL_PASSWORD: 'correct horse battery',
    };
  }

  get socket(): string {
    return controlSocket(join(this.subHome, 'run'));
  }

  spawn(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(process.execPath, [SUB, ...args], {
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async sub(...args: readonly string[]) {
    const child = this.spawn(args);
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('its output is not piped');
    const [out, err] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
    return { code: child.exitCode, out, err };
  }

  /** Steward in the foreground, as a child; resolves when it answers or has ended. */
  async start(configFolder: string, env: NodeJS.ProcessEnv = {}): Promise<RunningChild> {
    const args = ['steward', 'start', '--foreground', '--config', configFolder];
    const child = this.spawn(args, env);
    if (child.stderr === null) throw new Error('its output is not piped');
    const lines = createInterface({ input: child.stderr });
    const isReady = await new Promise<boolean>((resolve) => {
      lines.on('line', (line) => {
        if (line.includes('It answers on')) resolve(true);
      });
      child.once('exit', () => resolve(false));
    });
    return { child, isReady };
  }

  /** Approves each request that comes, and gives the tools that were asked about. */
  approveAll(): { readonly asked: readonly string[]; stop(): void } {
    const warn = () => undefined;
    const ports = { nowMs: () => Date.now(), uuid: () => crypto.randomUUID(), warn };
    const desk = openDesk({ home: this.subHome, ports, pollMs: 20 });
    if (isFailure(desk)) throw new Error(desk.message);
    const asked: string[] = [];
    const following = desk.queue.follow({
      onRequest: ({ request: { id, call }, sha256 }) => {
        asked.push(`${call.server}.${call.tool}`);
        desk.decide(id, { state: 'approved', by: 'ada', channel: 'test', sha256 });
      },
      onEnd: () => undefined,
    });
    return { asked, stop: () => following.stop() };
  }

  /** Says it, unless it was taken before. Gives the conversation; undefined when Steward went away. */
  async say(request: string): Promise<string | undefined> {
    const known = await this.#conversation();
    if (known !== undefined) return known;
    const input = { channel: 'terminal', person: 'ada', text: request } as const;
    const taken = await askSteward(this.socket, 'send', { input });
    return isFailure(taken) ? undefined : taken.conversation_id;
  }

  async #conversation(): Promise<string | undefined> {
    const listed = await askSteward(this.socket, 'conversations', { input: {} });
    if (isFailure(listed)) return undefined;
    const [first] = listed.conversations;
    if (first === undefined) return undefined;
    const input = { conversation_id: first.id, after: 0 };
    const seen = await askSteward(this.socket, 'updates', { input });
    return isFailure(seen) || seen.messages.length === 0 ? undefined : first.id;
  }

  /** What there is when nothing is left to do; a failure when Steward went away before. */
  async idle(conversation_id: string) {
    let version = 0;
    for (;;) {
      const input = { conversation_id, after: 0, version, wait_ms: 10_000 };
      const seen = await askSteward(this.socket, 'updates', { input });
      if (isFailure(seen)) return seen;
      if (seen.is_idle) return seen;
      ({ version } = seen);
    }
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await this.sub('ledgerd', '--stop');
  }
}

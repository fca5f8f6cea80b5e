// A notification on the desktop of the user. It only announces: people answer in the terminal, where
// the whole call is shown.
import { spawn } from 'node:child_process';
import { visible } from '@subluminal/core/visible';
import type { Desk } from '../../../stores/approvals/desk.ts';
import { shortId } from '../../../stores/approvals/find-id.ts';
import type { Entry } from '../../../stores/approvals/queue.ts';
import { RequestFollower, type RunningChannel } from '../shared/announce-requests.ts';

interface DesktopConfig {
  /** Notifications in a minute; the next one gives the number of the rest. */
  readonly perMinuteMax: number;
  readonly platform: NodeJS.Platform;
  readonly env: { readonly [name: string]: string | undefined };
}

interface NotifyProgram {
  readonly file: string;
  readonly args: (title: string, body: string) => readonly string[];
}

const MINUTE_MS = 60_000;
const PROGRAM_MS = 5_000;

/** The text is an argument of the script, never a part of it. */
const SCRIPT = [
  ...['-e', 'on run argv'],
  ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
  ...['-e', 'end run'],
];

const PROGRAMS: { readonly [platform: string]: NotifyProgram } = {
  linux: {
    file: 'notify-send',
    // Some desktops read markup in the body.
    args: (title, body) => ['--app-name=Subluminal', '--', title, escapeMarkup(body)],
  },
  darwin: { file: 'osascript', args: (title, body) => [...SCRIPT, title, body] },
};

export function startDesktop(desk: Desk, config: DesktopConfig): RunningChannel {
  const program = PROGRAMS[config.platform];
  if (program === undefined) {
    desk.ports.warn?.(`There are no desktop notifications on ${config.platform}.`);
    return { stop: () => Promise.resolve() };
  }
  const shown: number[] = [];
  const underWay = new Set<Promise<void>>();
  let unsaid = 0;
  const notify = (title: string, body: string) => {
    const done = run(program, config, [title, body]).then((trouble) => {
      if (trouble !== undefined) desk.ports.warn?.(`${program.file} ${trouble}.`);
      underWay.delete(done);
    });
    underWay.add(done);
  };
  const tell = (entry: Entry) => {
    const nowMs = desk.ports.nowMs();
    while ((shown[0] ?? nowMs) <= nowMs - MINUTE_MS) shown.shift();
    if (shown.length >= config.perMinuteMax) {
      unsaid++;
      return;
    }
    shown.push(nowMs);
    const more = unsaid === 0 ? '' : ` ${unsaid} more wait.`;
    unsaid = 0;
    notify('An agent asks for approval', notificationText(entry) + more);
  };
  const channel = new RequestFollower(desk, 'desktop', {
    // One that did not appear is not shown again later: by then somebody may have answered.
    tell: async (entry) => {
      tell(entry);
      return { kind: 'told', value: {} };
    },
  });
  return {
    async stop() {
      await channel.stop();
      await Promise.all(underWay);
    },
  };
}

/** No arguments: a notification may be seen by anybody who stands near. */
function notificationText({ request }: Entry): string {
  const { server, tool } = request.call;
  const call = `${visible(server, 60)}/${visible(tool, 60)}`;
  return `${call} waits: sub approvals show ${shortId(request.id)}`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Undefined when it went well. */
function run(
  { file, args }: NotifyProgram,
  { env }: DesktopConfig,
  [title, body]: readonly [string, string],
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(file, args(title, body), {
      env,
      stdio: 'ignore',
      shell: false,
      timeout: PROGRAM_MS,
      killSignal: 'SIGKILL',
    });
    child.once('error', () => resolve('cannot be started'));
    child.once('close', (code) => resolve(code === 0 ? undefined : 'has failed'));
  });
}

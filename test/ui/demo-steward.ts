// A Steward in the home of the demo: one task that is done, with a change that waits, and one call that waits for a
// person.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isFailure, type StewardAnswers } from '@subluminal/contracts';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import { ended, startSub } from '../e2e/sub.ts';
import type { Conversation, Reply } from '../steward/model-script.ts';
import { startScriptedModel } from '../steward/scripted-model.ts';
import type { PageHome } from './page-home.ts';

const NOTES = `# Team day, 3 December

- 09:30 arrival, coffee
- 10:00 roadmap, Ada
- 12:30 lunch at the canal
- 14:00 workshop in two groups
`;
const PLAN = 'Write the plan of the team day into team-day.md, and remember that we meet in Ghent.';
const COUNT = 'How much room do my notes take?';
const ALLOWED = { verdict: 'ALLOW', reason: 'It is what the user asked for.' };

const STEPS: readonly Reply[] = [
  {
    uses: [
      { name: 'files.list', args: { path: '.', reasoning: 'To see whether a plan is there.' } },
    ],
  },
  {
    uses: [
      {
        name: 'files.propose_write',
        args: { path: 'team-day.md', content: NOTES, reasoning: 'The plan that was asked for.' },
      },
    ],
  },
  {
    uses: [
      {
        name: 'memory.remember',
        args: { text: 'The team day is in Ghent.', reasoning: 'You asked to remember it.' },
      },
    ],
  },
  { text: 'The plan is proposed as team-day.md: approve it under Files. I keep in mind: Ghent.' },
];
const MEASURE = {
  name: 'shell.run',
  args: { command: 'du -sh .', reasoning: 'To see how much room the notes take.' },
};

function guardian(asked: string): Reply {
  const id = /Answer with \{"case": "([^"]+)"/.exec(asked)?.[1];
  return { text: JSON.stringify({ case: id, ...ALLOWED }) };
}

function script({ tools, asked, results }: Conversation): Reply {
  if (tools.length === 0) return guardian(asked);
  return asked === PLAN ? (STEPS[results.length] ?? { text: 'Done.' }) : { uses: [MEASURE] };
}

export interface DemoSteward {
  close(): Promise<void>;
}

export async function startDemoSteward(home: PageHome): Promise<DemoSteward> {
  const model = await startScriptedModel(script);
  const place = { cwd: home.folder, env: home.env };
  const init = ['steward', 'init', '--model-url', model.url, '--model', 'm'];
  const { code, stderr } = await ended(startSub(init, place));
  if (code !== 0) throw new Error(stderr);
  const steward = startSub(['steward', 'start', '--foreground'], place);
  const gone = ended(steward);
  const close = async () => {
    steward.kill('SIGTERM');
    await gone;
    await model.close();
  };
  try {
    await until(home, 'steward starts', () => true);
    await say(home, PLAN);
    await until(home, 'the plan is proposed', ({ open_tasks }) => open_tasks.length === 0);
    await say(home, COUNT);
    await until(home, 'a call waits', (status) => status.pending_confirmations === 1);
    return { close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

const socketOf = ({ folder }: PageHome) => controlSocket(join(folder, '.subluminal', 'run'));

async function say(home: PageHome, text: string): Promise<void> {
  const input = { channel: 'web', person: userInfo().username, text } as const;
  const taken = await askSteward(socketOf(home), 'send', { input });
  if (isFailure(taken)) throw new Error(taken.message);
}

const AGAIN_MS = 200;
const TRIES_MAX = 150;

async function until(
  home: PageHome,
  what: string,
  isSo: (status: StewardAnswers['status']) => boolean,
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const status = await askSteward(socketOf(home), 'status', { input: {} });
    if (!isFailure(status) && isSo(status)) return;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  throw new Error(`Steward: never so that ${what}`);
}

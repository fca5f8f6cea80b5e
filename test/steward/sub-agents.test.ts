// Two workers of the built Steward: killed while they work, they go on, and both are announced.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import type { Conversation, Reply } from './model-script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { StewardHome } from './steward-home.ts';

const TIMEOUT_MS = 60_000;
const worker = (task: string) => ({
  name: 'agents.spawn',
  args: { kind: 'research', task, reasoning: 'The user wants both.' },
});

let top: string;
let home: StewardHome;
let model: ScriptedModel;
let workers: Conversation[];
/** What a worker does when its model is asked. */
let work: (conversation: Conversation) => Reply;
let bothAsked: Promise<void>;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'sub-workers-'));
  home = new StewardHome(top);
  workers = [];
  work = () => ({ fault: { kind: 'hang' } });
  let tell = () => undefined as void;
  bothAsked = new Promise((resolve) => {
    tell = resolve;
  });
  model = await startScriptedModel((conversation) => {
    const { system, asked, results } = conversation;
    if (system.includes('You are the guardian')) return verdict(asked);
    if (asked.includes('You are a sub-agent')) {
      workers.push(conversation);
      if (workers.length === 2) tell();
      return work(conversation);
    }
    if (results.length > 0) return { text: 'Two are on it.' };
    return { uses: [worker('Find out about tea.'), worker('Find out about cups.')] };
  });
});
afterEach(async () => {
  await home.sub('steward', 'stop');
  await home.close();
  await model.close();
  rmSync(top, { recursive: true, force: true });
});

function verdict(asked: string): Reply {
  const id = /\b[0-9a-f]{16,}\b/.exec(asked)?.[0] ?? '';
  return { text: JSON.stringify({ case: id, verdict: 'ALLOW', reason: 'It was asked for.' }) };
}

test(
  'two workers go on after a kill, have no sub-agents of their own, and are both announced',
  async () => {
    verifies('ST-6.2');
    const made = await home.sub('steward', 'init', '--model-url', model.url, '--model', 'm');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect((await home.sub('steward', 'start')).code).toBe(0);
    const chat = home.spawn(['steward', 'chat', 'Find out about tea and cups.']);
    await bothAsked;
    const { pid } = JSON.parse((await home.sub('steward', 'status', '--json')).out) as {
      pid: number;
    };
    process.kill(pid, 'SIGKILL');
    await once(chat, 'exit');
    work = ({ asked }) => ({ text: asked.includes('tea') ? 'Mint.' : 'Mugs.' });
    expect((await home.sub('steward', 'start')).code).toBe(0);
    const { messages } = await home.onlyConversation();
    const notices = messages.filter(({ role }) => role === 'notice').map((one) => one.text);
    expect(notices.toSorted()).toEqual([
      'The research sub-agent (Task: Find out about cups.) is done:\nMugs.',
      'The research sub-agent (Task: Find out about tea.) is done:\nMint.',
    ]);
    expect(workers).toHaveLength(4);
    for (const { tools } of workers) {
      expect(tools.some((name) => name.startsWith('files'))).toBe(true);
      expect(tools.filter((name) => name.startsWith('agents'))).toEqual([]);
    }
  },
  TIMEOUT_MS,
);

// The user's own coding agent under the built `sub run`, with a program in its place that speaks as `claude -p` does.
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codingAgent } from '../../packages/steward/agents/index.ts';
import { verifies } from '../requirements.ts';
import type { Conversation, Reply } from './model-script.ts';
import { startScriptedModel } from './scripted-model.ts';
import { StewardHome, SUB } from './steward-home.ts';

const TIMEOUT_MS = 60_000;
/** Says what it was told, or does what the task asks of it. */
const CLIENT = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const asked = readFileSync(0, 'utf8');
if (asked.includes('hang')) {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  writeFileSync('pids', [process.pid, child.pid].join(' '));
  process.on('SIGTERM', () => undefined);
  setInterval(() => undefined, 1000);
} else if (asked.includes('fail')) {
  console.error('I cannot.');
  process.exitCode = 7;
} else {
  const { argv, env } = process;
  console.error('progress');
  console.log(JSON.stringify({ asked, cwd: process.cwd(), args: argv.slice(2), names: Object.keys(env) }));
}
`;

let top: string;
let folder: string;
let home: StewardHome;
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'sub-coding-')));
  folder = join(top, 'project');
  for (const name of ['bin', 'project']) mkdirSync(join(top, name));
  writeFileSync(join(top, 'bin', 'claude'), CLIENT, { mode: 0o755 });
  home = new StewardHome(top);
  home.env['PATH'] = `${join(top, 'bin')}:${process.env['PATH']}`;
});
afterEach(async () => {
  await home.close();
  rmSync(top, { recursive: true, force: true });
});

function work(
  request: string,
  { signal = new AbortController().signal, args = ['--model', 'm'] } = {},
) {
  const events = { SUB_EVENTS: `file:${join(top, 'events.jsonl')}` };
  const agent = codingAgent({
    settings: { client: 'claude', folder, args },
    sub: SUB,
    env: { ...home.env, ...events, ANTHROPIC_API_KEY: 'sk-ant-secret', MAIL_PASSWORD: 'secret' },
    closed: [home.subHome],
    redact: (said) => said.replaceAll('hunter2', '***'),
  });
  return agent.work({ id: 'agent:steward:subagent:1', runId: 'run-of-parent', request, signal });
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a coding agent', () => {
  test(
    'is told its task on standard input, and is a run of its own that names its parent',
    async () => {
      const { isDone, text: said } = await work('Task: Say hunter2.');
      expect({ isDone, said }).toMatchObject({ isDone: true });
      const heard = JSON.parse(said) as { [name: string]: string & readonly string[] };
      expect(heard).toMatchObject({ asked: 'Task: Say ***.', cwd: folder });
      expect(heard['args']).toEqual(expect.arrayContaining(['--model', 'm', '-p']));
      expect(heard['names']).toContain('SUB_RUN_HOSTED');
      expect(heard['names']).not.toContain('ANTHROPIC_API_KEY');
      expect(heard['names']).not.toContain('MAIL_PASSWORD');
      const [first = ''] = readFileSync(join(top, 'events.jsonl'), 'utf8').split('\n');
      const began = JSON.parse(first) as { [name: string]: unknown };
      expect(began).toMatchObject({
        type: 'run_start',
        agent_id: 'steward-coding',
        client: 'claude',
        run: { meta: { parent_run_id: 'run-of-parent', sub_agent: 'agent:steward:subagent:1' } },
      });
    },
    TIMEOUT_MS,
  );

  test(
    'that fails tells how, and one in a folder of our own is not started',
    async () => {
      const failed = await work('Task: fail.');
      expect(failed).toMatchObject({ isDone: false });
      expect(failed.text).toMatch(/^It ended with exit code 7\.\n[^]*I cannot\./);
      folder = join(home.subHome, 'steward');
      mkdirSync(folder, { recursive: true });
      const refused = await work('Task: fail.');
      expect(refused).toMatchObject({ isDone: false });
      expect(refused.text).toContain('is not in a folder that is open');
      folder = join(top, 'absent');
      expect(await work('Task: fail.')).toMatchObject({ isDone: false });
    },
    TIMEOUT_MS,
  );

  test(
    'ends with all of its processes when it is stopped, and the record says so',
    async () => {
      const stop = new AbortController();
      home.env['SUB_GRACE_MS'] = '500';
      const working = work('Task: hang.', { signal: stop.signal });
      const pids = join(folder, 'pids');
      await expect
        .poll(() => existsSync(pids) && readFileSync(pids, 'utf8'), { timeout: 30_000 })
        .toMatch(/\d \d/);
      stop.abort();
      const { isDone, text: said } = await working;
      expect(isDone).toBe(false);
      expect(said).toContain('It was stopped while it worked.');
      const numbers = readFileSync(pids, 'utf8').split(' ').map(Number);
      expect(numbers.map(isRunning)).toEqual([false, false]);
      const events = readFileSync(join(top, 'events.jsonl'), 'utf8');
      expect(events).toContain('"type":"run_end"');
    },
    TIMEOUT_MS,
  );
});

function answer({ system, asked, results }: Conversation): Reply {
  if (system.includes('You are the guardian')) {
    const id = /\b[0-9a-f]{16,}\b/.exec(asked)?.[0] ?? '';
    return { text: JSON.stringify({ case: id, verdict: 'ALLOW', reason: 'It was asked for.' }) };
  }
  const reasoning = 'The user wants it.';
  if (results.length === 0) {
    return { uses: [{ name: 'agents.code', args: { task: 'Say hello.', reasoning } }] };
  }
  const [id = ''] = /agent:steward:subagent:[0-9a-f-]+/.exec(results.join()) ?? [];
  if (results.length === 1) return { uses: [{ name: 'agents.result', args: { id, reasoning } }] };
  return { text: `It says: ${results[1]}` };
}

test(
  'Steward asks before it starts the coding agent, and takes what it says as content from outside',
  async () => {
    verifies('ST-6.2');
    const model = await startScriptedModel(answer);
    try {
      await home.sub('steward', 'init', '--model-url', model.url, '--model', 'm');
      const file = join(home.subHome, 'steward', 'config', 'integrations.yaml');
      const coding = `coding: { client: claude, folder: ${folder} }\n`;
      writeFileSync(file, `${readFileSync(file, 'utf8')}\n${coding}`);
      const chat = home.spawn(['steward', 'chat', 'Let Claude say hello.']);
      const [out, err] = [text(chat.stdout), text(chat.stderr)];
      (await home.asked('code')).approve();
      await once(chat, 'exit');
      expect(chat.exitCode, await err).toBe(0);
      expect(await out).toMatch(/EXTERNAL_CONTENT[^]*Task: Say hello\./);
    } finally {
      await model.close();
    }
  },
  TIMEOUT_MS,
);

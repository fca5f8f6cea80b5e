// A coding sub-agent of Steward is the user's own client: the real one, under `sub run`, on a small task.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { type Conversation, kindGuardian, type Reply } from '../steward/model-script.ts';
import { startScriptedModel } from '../steward/scripted-model.ts';
import { HOOKED_CLIENTS } from './hooked-clients.ts';
import { DONE, type Scene, setScene } from './scene.ts';
import { calls, text } from './script.ts';

beforeAll(ensureBuilt);

const TASK = 'Write a greeting into greeting.txt.';

/** Hands the task over, waits for its result, and says what came of it. */
function steward({ results }: Conversation): Reply {
  const reasoning = 'The user wants it.';
  const [id = ''] = /agent:steward:subagent:[0-9a-f-]+/.exec(results.join()) ?? [];
  if (results.length === 0) {
    return { uses: [{ name: 'agents.code', args: { task: TASK, reasoning } }] };
  }
  if (results.length === 1) return { uses: [{ name: 'agents.result', args: { id, reasoning } }] };
  return { text: `It says: ${results[1]}` };
}

/** The client finds its model by its own settings: Steward hands it no key. */
function writeSettings({ stage, client, model }: Scene): void {
  const { HTTPS_PROXY: _https, HTTP_PROXY: _http, NO_PROXY: _none, ...env } = client.env(model.url);
  const file = join(stage.home, '.claude', 'settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ env }));
}

function approveAll(home: string): void {
  const ports = { nowMs: () => Date.now(), uuid: () => crypto.randomUUID(), warn: () => undefined };
  const desk = openDesk({ home, ports, pollMs: 50 });
  if (isFailure(desk)) throw new Error(desk.message);
  const following = desk.queue.follow({
    onRequest: ({ request: { id }, sha256 }) =>
      void desk.decide(id, { state: 'approved', by: 'ada', channel: 'test', sha256 }),
    onEnd: () => undefined,
  });
  onTestFinished(() => following.stop());
}

test.for(HOOKED_CLIENTS.filter(({ id }) => id === 'claude-code'))(
  '$title does a task of Steward, governed and on record as a run of its own',
  async (client, { skip }) => {
    verifies('ST-6.2');
    const scene = await setScene(client, skip);
    const { stage, model } = scene;
    writeSettings(scene);
    const agent = await startScriptedModel((said) => kindGuardian(said) ?? steward(said));
    onTestFinished(() => agent.close());
    const made = await stage.sub('steward', 'init', '--model-url', agent.url, '--model', 'm');
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const home = join(stage.home, '.subluminal');
    const file = join(home, 'steward', 'config', 'integrations.yaml');
    const args = ['--allowedTools', 'Write,Bash'];
    const coding = JSON.stringify({ client: 'claude', folder: stage.project, args });
    writeFileSync(file, `${readFileSync(file, 'utf8')}\ncoding: ${coding}\n`);
    writeFileSync(
      join(stage.project, 'policy.yaml'),
      'policy_id: p\nversion: "1"\nmode: control\nrules:\n  - { rule_id: no-shell, kind: deny, match: { tool_name: { glob: [Bash] } }, effect: { action: BLOCK, message: No commands. } }\n',
    );
    const greeting = join(stage.project, 'greeting.txt');
    const { shell, write } = client.tools;
    model.play([calls(shell('id')), calls(write(greeting, 'Hello.')), text(DONE)]);
    approveAll(home);
    const chat = await stage.sub('steward', 'chat', 'Have a greeting written.');
    expect(chat, chat.stderr).toMatchObject({ code: 0 });
    expect(chat.stdout).toMatch(new RegExp(`EXTERNAL_CONTENT[^]*${DONE}`));
    expect(readFileSync(greeting, 'utf8').trim()).toBe('Hello.');
    expect(model.seen()[0]).toContain('No commands.');
    await stage.quiet();
    const found = (await stage.calls(4)).filter(({ agent_id }) => agent_id === 'steward-coding');
    expect(found).toMatchObject([
      { tool_name: 'Bash', decision: 'BLOCK', rule_id: 'no-shell' },
      { tool_name: 'Write', decision: 'ALLOW', status: 'OK' },
    ]);
    expect(new Set(found.map(({ run_id }) => run_id)).size).toBe(1);
  },
);

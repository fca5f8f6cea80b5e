// `sub run --models` with the real clients: turns and tool calls in one run, secrets that stay home, a person
// who approves, and refusals that the clients report and do not repeat.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { thisSystem } from '@subluminal/plane/os';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { until } from '../contract/proc.ts';
import { type Ended, ensureBuilt } from '../e2e/sub.ts';
import { openTerminal, personSub } from '../person.ts';
import { REAL_CLIENTS, type RealClient } from './real-client.ts';
import { DONE, type Scene, SECRET, setScene, writeConfigs } from './scene.ts';
import { call, isBody, text } from './script.ts';
import type { Stage } from './stage.ts';

interface ModelsScene extends Scene {
  readonly run: (rules: string) => Promise<Ended>;
}

interface LedgerTurn {
  readonly kind: 'tool_call' | 'turn';
  readonly run_id: string;
  readonly call_id: string;
  readonly provider?: string;
  readonly model?: string;
  readonly tool_name?: string;
  readonly decision: string;
  readonly rule_id: string | null;
  readonly status: string | null;
  readonly tokens_in: number | null;
}

interface StartEvent {
  readonly call: { readonly tool_use_id?: string };
}

beforeAll(ensureBuilt);

async function setModelsScene(client: RealClient, skip: TestContext['skip']): Promise<ModelsScene> {
  const scene = await setScene(client, skip);
  const { stage, model } = scene;
  writeConfigs(scene, model.url);
  writeFileSync(join(stage.project, 'hello.txt'), `Hello. The token is ${SECRET}.\n`);
  const run = (rules: string) => {
    writeFileSync(stage.policy, policyOf(rules));
    return stage.sub('wrap', '--models', '--policy', stage.policy, '--', ...client.command);
  };
  return { ...scene, run };
}

function policyOf(rules: string): string {
  return `policy_id: models\nversion: "1"\nmode: control\ncontent: { outbound: { secret: redact }, inbound: { secret: allow }, external_content: "off" }\nrules:\n${rules}`;
}

const ALLOW =
  '  - { rule_id: turns, kind: allow, match: { subjects: [turn] }, effect: { action: ALLOW } }\n';

/** All that the ledger has, the oldest first. */
async function story(stage: Stage): Promise<readonly LedgerTurn[]> {
  const { stdout } = await stage.sub('query', '--json', '--limit', '200');
  const answer: unknown = JSON.parse(stdout);
  if (!isBody(answer) || !Array.isArray(answer['calls'])) throw new Error(stdout);
  return (answer['calls'] as LedgerTurn[]).toReversed();
}

/** A person at a terminal of their own approves whatever waits, until the session has ended. */
async function approveAll(stage: Stage, running: Promise<Ended>): Promise<number> {
  const home = join(stage.home, '.subluminal');
  let isOver = false;
  void running.finally(() => {
    isOver = true;
  });
  const env = { HOME: stage.home, SUB_HOME: home, SUB_RUN_ID: '' };
  const done = new Set<string>();
  while (!isOver) {
    const next = await until(() => (isOver ? 'over' : pendingIn(home, done)), 'a request');
    if (next === 'over') break;
    const said = await personSub(['approvals', 'approve', next], { cwd: stage.project, env });
    expect(said, said.stdout + said.stderr).toMatchObject({ code: 0 });
    done.add(next);
  }
  return done.size;
}

function pendingIn(home: string, done: ReadonlySet<string>): string | undefined {
  const ports = { nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime() };
  const desk = openDesk({ home, ports });
  const listed = isFailure(desk) ? desk : desk.queue.list({ state: 'pending' });
  if (isFailure(listed)) return undefined;
  return listed.found.find(({ request }) => !done.has(request.id))?.request.id;
}

describe.each(REAL_CLIENTS.map((client) => [client.title, client] as const))('%s', (_, client) => {
  test('has its turns and its tool calls in one run, and a secret stays home', async ({ skip }) => {
    const { stage, model, run } = await setModelsScene(client, skip);
    const file = (name: string) => join(stage.project, name);
    model.play([
      call('files', 'read_text_file', { path: file('hello.txt') }),
      call('files', 'write_file', { path: file('copy.txt'), content: 'Hello.\n' }),
      text(DONE),
    ]);
    const session = await run(ALLOW);
    expect(session, session.stdout + session.stderr).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    // What the tool gave back came to the client, and not to the model.
    const asked = JSON.stringify(model.requests());
    expect(asked).toContain('The token is [REDACTED-GITHUB-TOKEN-');
    expect(asked).not.toContain(SECRET);
    await stage.quiet();
    const calls = await story(stage);
    const turns = calls.filter(({ kind }) => kind === 'turn');
    const tools = calls.filter(({ kind }) => kind === 'tool_call');
    expect(new Set(calls.map(({ run_id }) => run_id)).size).toBe(1);
    expect(tools.map(({ tool_name }) => tool_name)).toEqual(['read_text_file', 'write_file']);
    expect(turns.length).toBeGreaterThanOrEqual(3);
    for (const turn of turns) expect(turn).toMatchObject({ decision: 'ALLOW', status: 'OK' });
    expect(turns.some(({ tokens_in }) => (tokens_in ?? 0) > 0)).toBe(true);
    // The client passes the id on that the model gave to the call, so each call leads to its turn.
    for (const { call_id } of tools) {
      const { asked_by, events } = JSON.parse(
        (await stage.sub('show', call_id, '--json')).stdout,
      ) as { asked_by: { turn: string; id: string } | null; events: { event: StartEvent }[] };
      expect(turns.map((turn) => turn.call_id)).toContain(asked_by?.turn);
      expect(events[0]?.event.call.tool_use_id).toBe(asked_by?.id);
    }
  });

  test('waits for a person who approves its turn', async ({ skip }) => {
    const { stage, model, run } = await setModelsScene(client, skip);
    model.play([text(DONE)]);
    const rules =
      '  - { rule_id: ask, kind: approval, match: { subjects: [turn] }, effect: { approval: { wait: hold, timeout_ms: 60000 } } }\n';
    // Nobody who came after the run began is taken for a person.
    await openTerminal();
    const running = run(rules);
    const approved = approveAll(stage, running);
    const session = await running;
    expect(session, session.stdout + session.stderr).toMatchObject({ code: 0 });
    expect(session.stdout).toContain(DONE);
    expect(await approved).toBeGreaterThan(0);
  });

  test('reports a budget in dollars that is used up, and does not try again', async ({ skip }) => {
    const { stage, model, run } = await setModelsScene(client, skip);
    model.play([text(DONE)]);
    writePrices(stage);
    const rules =
      '  - { rule_id: dollars, kind: budget, match: { subjects: [turn] }, effect: { budget: { scope: run, limit_usd: 0.000001, on_exceed: BLOCK } } }\n';
    const session = await run(rules);
    const said = session.stdout + session.stderr;
    expect(said).toContain('The budget is used up');
    expect(model.requests().filter(({ method }) => method === 'POST')).toEqual([]);
    await stage.quiet();
    expect(await story(stage)).toMatchObject([
      { kind: 'turn', decision: 'BLOCK', rule_id: 'dollars' },
    ]);
  });
});

/** The scripted model of Codex is on no list of prices. */
function writePrices({ home }: Stage): void {
  const folder = join(home, '.subluminal');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const price = `[[prices]]
provider = "openai"
model = "scripted"
input_cents_per_mtok = 300
output_cents_per_mtok = 1500
`;
  writeFileSync(join(folder, 'config.toml'), price, { mode: 0o600 });
}

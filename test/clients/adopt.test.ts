// Real clients, adopted and given back by the built `sub`: what they call, what the model sees, and
// what is left of their configs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { type Ended, ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { type ClientConfig, REAL_CLIENTS, type RealClient } from './real-client.ts';
import { DONE, type Scene, setScene, writeConfigs } from './scene.ts';
import { call, isBody, text } from './script.ts';
import { HINT, type LedgerCall, REASON } from './stage.ts';

interface AdoptScene extends Scene {
  readonly configs: readonly ClientConfig[];
  /** What the model has each server write, when it may. */
  readonly copy: string;
}

interface Runs {
  readonly runs: readonly {
    readonly status: string | null;
    readonly summary_json: string | null;
  }[];
}

const GREETING = 'Hello from the file.';

beforeAll(ensureBuilt);

/** The model reads a file and has every server write one. */
async function setAdoptScene(client: RealClient, skip: TestContext['skip']): Promise<AdoptScene> {
  const scene = await setScene(client, skip);
  const { stage, model } = scene;
  const configs = writeConfigs(scene, model.url);
  const [hello, copy] = [join(stage.project, 'hello.txt'), join(stage.project, 'copy.txt')];
  writeFileSync(hello, GREETING);
  model.play([
    call('files', 'read_text_file', { path: hello }),
    ...client.servers.map((server) => call(server, 'write_file', { path: copy, content: server })),
    text(DONE),
  ]);
  return { ...scene, configs, copy };
}

/** The client did its task, and its model got the content of the file and the hints of the policy. */
function expectGoverned(scene: AdoptScene, { code, stdout, stderr }: Ended): void {
  const { client, model, copy } = scene;
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toContain(DONE);
  const [read, ...writes] = model.seen();
  expect(read).toContain(GREETING);
  expect(writes.map((one) => one.includes(REASON) && one.includes(`Hint: ${HINT}`))).toEqual(
    client.servers.map(() => true),
  );
  expect(existsSync(copy)).toBe(false);
}

/** All calls are in the ledger, and nothing but them; no server and no shim has outlived the client. */
async function expectRecorded({ client, stage }: AdoptScene): Promise<readonly LedgerCall[]> {
  await stage.quiet();
  const refused = { tool_name: 'write_file', decision: 'REJECT_WITH_HINT', rule_id: 'no-writes' };
  const calls = await stage.calls(1 + client.servers.length);
  expect(calls).toMatchObject([
    { server_name: 'files', tool_name: 'read_text_file', decision: 'ALLOW', status: 'OK' },
    ...client.servers.map((server_name) => ({ server_name, ...refused })),
  ]);
  return calls;
}

/** Nothing of ours is left; what the client itself has written meanwhile is as it was. */
function expectGivenBack(configs: readonly ClientConfig[], left: readonly string[]): void {
  const now = textsOf(configs);
  const found = configs.map(({ ownKey }, index) => parsedIf(ownKey, now[index]));
  const wanted = configs.map((config, index) => {
    if (config.ownKey === undefined) return config.text;
    const own = parsedIf(config.ownKey, left[index]);
    expect(own).toHaveProperty(config.ownKey);
    return withServers(own, parsedIf(config.ownKey, config.text));
  });
  expect(found).toEqual(wanted);
  expect(now.join('\n')).not.toContain('sub.mjs');
}

function parsedIf(ownKey: string | undefined, content = ''): unknown {
  return ownKey === undefined ? content : JSON.parse(content);
}

/** A config with the servers of another, wherever it has some. */
function withServers(own: unknown, before: unknown): unknown {
  if (!isBody(own) || !isBody(before)) return own;
  const members = Object.entries(own).map(([key, value]) => [
    key,
    key === 'mcpServers' ? before[key] : withServers(value, before[key]),
  ]);
  return Object.fromEntries(members) as unknown;
}

function textsOf(configs: readonly ClientConfig[]): readonly string[] {
  return configs.map(({ path }) => readFileSync(path, 'utf8'));
}

describe.each(REAL_CLIENTS)('$title', (client) => {
  test('is governed by `sub import` and given back by `sub restore`', async ({ skip }) => {
    verifies('SL-13', 'SL-10.2', 'F-006');
    const scene = await setAdoptScene(client, skip);
    const { stage, model, configs, copy } = scene;

    const imported = await stage.sub('import', client.id, '--policy', stage.policy, '--yes');
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    expectGoverned(scene, await stage.run(client.command));
    const calls = await expectRecorded(scene);
    // One run for all servers of the session, which the client has ended in its own way.
    const { runs } = JSON.parse((await stage.sub('query', '--runs', '--json')).stdout) as Runs;
    expect(runs).toMatchObject([{ calls: { total: calls.length } }]);
    expect(client.runStatuses).toContain(runs[0]?.status);
    const whole = `"calls_total":${calls.length}`;
    expect(runs[0]?.summary_json ?? whole).toContain(whole);

    const left = textsOf(configs);
    const restored = await stage.sub('restore', client.id, '--yes');
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expectGivenBack(configs, left);

    // On its own again: the same task writes the file, and the ledger hears nothing of it.
    const bare = await stage.run(client.command);
    expect(bare, bare.stderr).toMatchObject({ code: 0 });
    expect(model.seen().join('\n')).not.toContain(HINT);
    expect(readFileSync(copy, 'utf8')).toBe(client.servers.at(-1));
    await expectRecorded(scene);
  });

  test('is governed for one session by `sub wrap`', async ({ skip }) => {
    verifies('F-006', 'F-009', 'F-010');
    const scene = await setAdoptScene(client, skip);
    const { stage, configs } = scene;

    const wrapped = await stage.sub('wrap', '--policy', stage.policy, '--', ...client.command);
    expectGoverned(scene, wrapped);
    await expectRecorded(scene);
    expectGivenBack(configs, textsOf(configs));
  });

  test('gives its calls to the run of `sub run` once it is imported', async ({ skip }) => {
    const scene = await setAdoptScene(client, skip);
    const { stage } = scene;

    const imported = await stage.sub('import', client.id, '--policy', stage.policy, '--yes');
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    expectGoverned(scene, await stage.sub('run', '--agent-id', 'tester', '--', ...client.command));
    const calls = await expectRecorded(scene);
    expect(new Set(calls.map(({ agent_id }) => agent_id))).toEqual(new Set(['tester']));
    expect(new Set(calls.map(({ run_id }) => run_id)).size).toBe(1);
  });
});

// Real clients with servers that are reached by an address: imported, governed, and given back.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { REAL_CLIENTS, type RealClient } from './real-client.ts';
import { NOTE, startNotesServer } from './remote-server.ts';
import { DONE, type Scene, setScene } from './scene.ts';
import { call, isBody, text } from './script.ts';
import { HINT, REASON } from './stage.ts';

const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';

beforeAll(ensureBuilt);

interface RemoteScene extends Scene {
  readonly written: readonly string[];
  readonly config: string;
  readonly servers: readonly string[];
  readonly command: readonly string[];
}

/** The token is a variable of the client's environment for one server, and written down for the other. */
function configOf({ id }: RealClient, origin: string, modelUrl: string): string {
  if (id === 'codex') {
    return `model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false

[mcp_servers.notes] # far away
url = "${origin}/mcp"
bearer_token_env_var = "NOTES_TOKEN"
required = true
default_tools_approval_mode = "approve"

[mcp_servers.drafts]
url = "${origin}/mcp"
required = true
default_tools_approval_mode = "approve"

[mcp_servers.drafts.http_headers]
Authorization = "Bearer ${TOKEN}" # mine
`;
  }
  return `{
  "mcpServers": {
    "notes": { "type": "http", "url": "\${NOTES_ORIGIN:-${origin}}/mcp",
      "headers": { "Authorization": "Bearer \${NOTES_TOKEN}" } },
    "drafts": {
      "type": "sse",
      "url": "${origin}/sse",
      "headers": { "Authorization": "Bearer ${TOKEN}" }
    }
  },
  "numStartups": 7
}`;
}

async function setRemoteScene(client: RealClient, skip: TestContext['skip']): Promise<RemoteScene> {
  const scene = await setScene(client, skip);
  const { stage, model } = scene;
  const notes = await startNotesServer(TOKEN);
  onTestFinished(notes.close);
  const file = client.id === 'codex' ? ['.codex', 'config.toml'] : ['.claude.json'];
  const config = join(stage.home, ...file);
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, configOf(client, notes.origin, model.url));
  const servers = ['notes', 'drafts'];
  model.play([
    ...servers.flatMap((server) => [
      call(server, 'read_note', {}),
      call(server, 'write_note', { text: server }),
    ]),
    text(DONE),
  ]);
  const command = client.command.map((word) =>
    word.startsWith('mcp__') ? 'mcp__notes,mcp__drafts' : word,
  );
  return { ...scene, written: notes.written, config, servers, command };
}

/** What a client itself has written beside its servers stays out of the comparison. */
function serversIn(config: string): unknown {
  const content = readFileSync(config, 'utf8');
  if (config.endsWith('.toml')) return content;
  const data: unknown = JSON.parse(content);
  return isBody(data) ? data['mcpServers'] : undefined;
}

async function expectGoverned(scene: RemoteScene): Promise<void> {
  const { stage, model, servers, command, written } = scene;
  const ran = await stage.run(command, { env: { NOTES_TOKEN: TOKEN } });
  expect(ran, ran.stdout + ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stdout).toContain(DONE);
  const seen = model.seen();
  for (const at of servers.keys()) {
    expect(seen[2 * at]).toContain(NOTE);
    expect(seen[2 * at + 1]).toContain(REASON);
    expect(seen[2 * at + 1]).toContain(`Hint: ${HINT}`);
  }
  expect(written).toEqual([]);
  await stage.quiet();
  expect(await stage.calls(2 * servers.length)).toMatchObject(
    servers.flatMap((server_name) => [
      { server_name, tool_name: 'read_note', decision: 'ALLOW', status: 'OK' },
      { server_name, tool_name: 'write_note', decision: 'REJECT_WITH_HINT', rule_id: 'no-writes' },
    ]),
  );
}

describe.each(REAL_CLIENTS)('$title with servers that have an address', (client) => {
  test('is governed by `sub import` and given back by `sub restore`', async ({ skip }) => {
    const scene = await setRemoteScene(client, skip);
    const { stage, model, config, servers, command, written } = scene;
    const before = serversIn(config);
    const imported = await stage.sub('import', client.id, '--policy', stage.policy, '--yes');
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    expect(imported.stdout + imported.stderr).not.toContain(TOKEN);
    await expectGoverned(scene);
    const restored = await stage.sub('restore', client.id, '--yes');
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(serversIn(config)).toEqual(before);

    // On its own again, it writes both notes.
    const bare = await stage.run(command, { env: { NOTES_TOKEN: TOKEN } });
    expect(bare, bare.stderr).toMatchObject({ code: 0 });
    expect(model.seen().join('\n')).not.toContain(HINT);
    expect(written).toEqual(servers);
  });

  test('has its tokens in the store of secrets after `--move-secrets`', async ({ skip }) => {
    const scene = await setRemoteScene(client, skip);
    const { stage, config } = scene;
    const before = serversIn(config);
    const words = ['import', client.id, '--policy', stage.policy, '--yes', '--move-secrets'];
    const imported = await stage.sub(...words);
    expect(imported, imported.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(config, 'utf8')).not.toContain(TOKEN);
    await expectGoverned(scene);
    const restored = await stage.sub('restore', client.id, '--yes');
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(serversIn(config)).toEqual(before);
  });

  test('is governed for one session by `sub wrap`', async ({ skip }) => {
    const scene = await setRemoteScene(client, skip);
    const { stage, config, command, written } = scene;
    const before = serversIn(config);
    const words = ['wrap', '--policy', stage.policy, '--', ...command];
    const wrapped = await stage.run([process.execPath, stage.product, ...words], {
      env: { NOTES_TOKEN: TOKEN },
    });
    expect(wrapped, wrapped.stdout + wrapped.stderr).toMatchObject({ code: 0 });
    expect(scene.model.seen().join('\n')).toContain(HINT);
    expect(written).toEqual([]);
    expect(serversIn(config)).toEqual(before);
  });
});

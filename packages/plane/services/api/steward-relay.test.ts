// Questions of the page to Steward, with a stand-in on its socket that says what it was asked.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tableFailure } from '@subluminal/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { liveLedger } from './testing/live-ledger.ts';

const CHANGE = {
  ...{ id: 'change-1', kind: 'files', state: 'rejected', why: 'Asked.', run_id: 'run' },
  ...{ proposed_at_ms: 1, is_modified: false, by: 'ada', decided_at_ms: 2, paths: [] },
};

function emptyRunDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function stewardThatAnswers(answer: object) {
  const runDir = emptyRunDir();
  const asked: [string | undefined, unknown][] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === '/v1/caller') return response.end('{"token":"token-of-tests"}');
      asked.push([request.url, JSON.parse(body)]);
      return response.end(JSON.stringify(answer));
    });
  });
  server.listen(join(runDir, 'steward.sock'));
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { runDir, asked };
}

const POST = { method: 'POST', headers: { 'content-type': 'application/json' } };

test('a question goes to the method of the same name, its parameters as the input', async () => {
  const answer = {
    version: 3,
    run_id: null,
    sub_agent_runs: [],
    messages: [],
    tasks: [],
    open_changes: [],
    is_idle: true,
  };
  const { runDir, asked } = await stewardThatAnswers(answer);
  const client = await (await liveLedger()).open({ runDir });
  const path = '/api/v1/steward/updates?conversation_id=c&after=4';
  expect(await client.json(path)).toEqual(answer);
  expect(asked).toEqual([['/v1/updates', { conversation_id: 'c', after: 4 }]]);
});

test('who decides is the user of the daemon, whatever the page says', async () => {
  const { runDir, asked } = await stewardThatAnswers(CHANGE);
  const client = await (await liveLedger()).open({ runDir });
  const path = '/api/v1/steward/changes/reject';
  expect(await client.json(path, 200, { ...POST, body: '{"id":"change-1"}' })).toEqual(CHANGE);
  const [, input] = asked[0] ?? [];
  expect(input).toEqual({ id: 'change-1', person: 'ada', channel: 'web' });
  const forged = await client.ask(path, { ...POST, body: '{"id":"change-1","person":"eve"}' });
  expect(forged.status).toBe(400);
  expect(asked).toHaveLength(1);
});

test('a Steward that does not run is said to be away, with the command that starts it', async () => {
  const client = await (await liveLedger()).open({ runDir: emptyRunDir() });
  expect(await client.json('/api/v1/steward/status', 503)).toMatchObject({
    error: { code: 'SUB_STEWARD_AWAY', fix: 'Run `sub steward start`.' },
  });
});

test.each([
  ['SUB_CHANGE_CONFLICT', 409],
  ['SUB_CHANGE_UNKNOWN', 404],
  ['SUB_STEWARD_REQUEST', 400],
] as const)('%s is answered with %i', async (code, status) => {
  const { runDir } = await stewardThatAnswers(tableFailure(code));
  const client = await (await liveLedger()).open({ runDir });
  const answer = await client.json('/api/v1/steward/changes/show?id=x', status);
  expect(answer).toMatchObject({ error: { code } });
});

test('what answers on the socket and is no Steward is not passed on', async () => {
  const { runDir } = await stewardThatAnswers({ secret: 'x' });
  const client = await (await liveLedger()).open({ runDir });
  const answer = await client.ask('/api/v1/steward/memory');
  expect([answer.status, answer.text.includes('"secret"')]).toEqual([503, false]);
});

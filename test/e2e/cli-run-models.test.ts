// `sub run --models` with the built `sub`: an agent of a few lines, a scripted provider, and the story in the ledger.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { endBearing } from '../contract/proc.ts';
import { type Ended, ensureBuilt, ROOT, runSub, SUB } from './sub.ts';

const SECRET = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const MODEL = 'claude-sonnet-4-6';

/** Asks as often as it is told to, and prints what came. */
const AGENT = `
const [, , times, text] = process.argv;
for (let n = 0; n < Number(times); n++) {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-own' },
    body: JSON.stringify({ model: '${MODEL}', max_tokens: 100, messages: [{ role: 'user', content: text }] }),
  });
  console.log(response.status, await response.text());
}
`;

/** Asks once, and calls the tool that the answer wants, as Claude Code does: with the id of the model. */
const TOOL_AGENT = `
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
const response = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant-own' },
  body: JSON.stringify({ model: '${MODEL}', max_tokens: 100, messages: [{ role: 'user', content: 'Go.' }] }),
});
const { content: [{ id }] } = await response.json();
const args = ['${SUB}', 'shim', '--server-name', 'files', '--', process.execPath, '${ROOT}test/e2e/small-server.mjs'];
const shim = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: shim.stdout })[Symbol.asyncIterator]();
const ask = async (id, method, params) => {
  shim.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
  return (await lines.next()).value;
};
const client = { capabilities: {}, clientInfo: { name: 'scripted', version: '1' } };
await ask(1, 'initialize', { protocolVersion: '2025-06-18', ...client });
const _meta = { 'claudecode/toolUseId': id };
console.log(await ask(2, 'tools/call', { name: 'echo', arguments: { message: 'x' }, _meta }));
shim.stdin.end();
await new Promise((resolve) => shim.on('close', resolve));
`;

const POLICY = `policy_id: models
version: "1"
mode: control
content: {}
rules:
  - rule_id: three-turns
    kind: budget
    match: { subjects: [turn] }
    effect: { budget: { scope: run, limit_calls: 3, on_exceed: BLOCK } }
`;

let folder = '';
let mark = '';
let server: Server;
let bodies: string[] = [];
let keys: (string | undefined)[] = [];

beforeAll(ensureBuilt);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-models-'));
  mark = randomUUID();
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'agent.mjs'), AGENT);
  writeFileSync(join(folder, 'tool-agent.mjs'), TOOL_AGENT);
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  [bodies, keys] = [[], []];
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      bodies.push(body);
      keys.push(request.headers['x-api-key']?.toString());
      const answer = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }],
        stop_reason: 'tool_use',
        stop_sequence: null,
        usage: { input_tokens: 1_000, output_tokens: 100 },
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  endBearing([mark, folder]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function sub(...args: readonly string[]): Promise<Ended> {
  const { port } = server.address() as AddressInfo;
  const home = join(folder, 'home');
  const own = { HOME: home, SUB_HOME: join(home, 'sub'), SUB_TEST_MARK: mark, SUB_RUN_ID: '' };
  const env = { ...own, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, NO_PROXY: '127.0.0.1' };
  return runSub(args, { cwd: folder, env });
}

function agent(options: readonly string[], times: number, text: string): Promise<Ended> {
  const command = [process.execPath, 'agent.mjs', String(times), text];
  return sub('run', '--models', '--policy', 'policy.yaml', ...options, '--', ...command);
}

test('turns go to the own provider, and are found, shown and added up', async () => {
  const ran = await agent([], 4, `Use ${SECRET} here.`);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stdout.match(/^200 /gm)).toHaveLength(3);
  expect(ran.stdout).toMatch(/^429 .*The budget is used up: 3 of 3 calls/m);
  expect(keys).toEqual(['sk-ant-own', 'sk-ant-own', 'sk-ant-own']);
  expect(bodies.join('')).toContain('Use [REDACTED-GITHUB-TOKEN-');
  expect(bodies.join('')).not.toContain(SECRET);
  expect(ran.stderr).toContain('4 calls (4 turns of models, $0.0135), 1 refused');

  const found = await sub('query', '--kind', 'turn', '--run', 'last', '--json');
  expect(JSON.parse(found.stdout)).toMatchObject({
    calls: [
      { kind: 'turn', decision: 'BLOCK', rule_id: 'three-turns', tokens_in: null },
      { decision: 'ALLOW', status: 'OK', model: MODEL, tokens_in: 1_000, cost_micros: 4_500 },
      { decision: 'ALLOW' },
      { decision: 'ALLOW' },
    ],
  });
  expect(JSON.parse((await sub('query', '--kind', 'tool_call', '--json')).stdout)).toMatchObject({
    calls: [],
  });
  const stats = await sub('stats', '--by', 'model');
  expect(stats.stdout).toMatch(/anthropic\/claude-sonnet-4-6 +4 +1 +0 +3,000 +300 +\$0\.0135/);
  const listed = await sub('query', '--kind', 'turn', '--status', 'OK', '--csv');
  const [, first = ''] = listed.stdout.split('\n');
  const callId = first.split(',')[2] ?? '';
  const shown = await sub('show', callId);
  expect(shown.stdout).toContain('Read  toolu_1');
  expect(shown.stdout).toContain('1,000 in, 100 out, $0.0045');
  expect(shown.stdout).toMatch(/in args +secret:/);
  expect(shown.stdout + found.stdout + ran.stderr).not.toContain(SECRET);
});

test('a turn and the call that it asked for name each other', async () => {
  const command = [process.execPath, 'tool-agent.mjs'];
  const ran = await sub('run', '--models', '--policy', 'policy.yaml', '--', ...command);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stdout).toContain('Echo: x');
  const { calls } = JSON.parse((await sub('query', '--run', 'last', '--json')).stdout) as {
    calls: { kind: string; call_id: string }[];
  };
  const [turn = '', call = ''] = ['turn', 'tool_call'].map(
    (kind) => calls.find((one) => one.kind === kind)?.call_id,
  );
  // The model calls it `Read`, the server `echo`: only its id tells.
  expect((await sub('show', turn)).stdout).toContain(`Read  toolu_1  call ${call}`);
  expect((await sub('show', call)).stdout).toMatch(
    new RegExp(`^ +turn +${turn} \\(toolu_1\\)$`, 'm'),
  );
  expect(JSON.parse((await sub('show', call, '--json')).stdout)).toMatchObject({
    asked_by: { turn, id: 'toolu_1' },
  });
});

test('an agent whose settings lead elsewhere does not start', async () => {
  mkdirSync(join(folder, '.claude'));
  const settings = { env: { ANTHROPIC_BASE_URL: 'https://elsewhere.example' } };
  writeFileSync(join(folder, '.claude', 'settings.json'), JSON.stringify(settings));
  const ran = await agent(['--client', 'claude'], 1, 'x');
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('[SUB_MODELS_ESCAPE]');
  expect(bodies).toEqual([]);
});

test('without a policy, turns pass and are on record', async () => {
  const command = [process.execPath, 'agent.mjs', '1', 'hello'];
  const ran = await sub('run', '--models', '--events', 'events.jsonl', '--', ...command);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.stdout).toMatch(/^200 /);
  expect(ran.stderr).toContain('1 call (1 turn of models, $0.0045), 0 refused');
});

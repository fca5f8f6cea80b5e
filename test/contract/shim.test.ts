// The built `sub shim` from outside: a real client, a real server, real pipes.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { type Event, parseErrorData, parseEventLine } from '@subluminal/contracts';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everythingServer } from '../bundled.ts';
import { ended, ensureBuilt, ROOT, SUB, startSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';

const EVERYTHING = everythingServer();
const SERVER = [process.execPath, EVERYTHING, 'stdio'];

const POLICY = `policy_id: contract
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-env
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["*env*"] } }
    effect:
      action: BLOCK
      message: The environment stays closed.
      hint: { hint_text: Ask a person for the value. }
  - rule_id: few-sums
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["get-sum"] } }
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
`;

let folder: string;
let clients: Client[];

beforeAll(() => ensureBuilt());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-shim-'));
  clients = [];
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function connect(command: readonly string[]): Promise<Client> {
  const [program = '', ...args] = command;
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: join(folder, 'home') };
  const transport = new StdioClientTransport({ command: program, args, env, stderr: 'ignore' });
  const client = new Client({ name: 'contract', version: '1' });
  clients.push(client);
  await client.connect(transport);
  return client;
}

function shimmed(server: readonly string[] = SERVER): readonly string[] {
  const events = `file:${join(folder, 'events.jsonl')}`;
  const flags = ['--policy', join(folder, 'policy.yaml'), '--events', events];
  return [process.execPath, SUB, 'shim', '--server-name', 'everything', ...flags, '--', ...server];
}

/** Closes every session, so that the file is complete, and reads it. */
async function eventsAfterwards(): Promise<readonly Event[]> {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  const lines = readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const parsed = parseEventLine(line);
    if (!parsed.ok) throw new Error(`not an event: ${line}`);
    return parsed.event;
  });
}

describe('a server behind the shim', () => {
  it('offers and answers what it does without', async () => {
    verifies('T-A1.1', 'T-A1.2');
    const [direct, governed] = [await connect(SERVER), await connect(shimmed())];
    expect(governed.getServerVersion()).toEqual(direct.getServerVersion());
    expect(governed.getServerCapabilities()).toEqual(direct.getServerCapabilities());
    expect(governed.getInstructions()).toEqual(direct.getInstructions());
    expect(await governed.listTools()).toEqual(await direct.listTools());
    expect(await governed.listPrompts()).toEqual(await direct.listPrompts());
    expect(await governed.listResourceTemplates()).toEqual(await direct.listResourceTemplates());
    const calls = [
      { name: 'echo', arguments: { message: 'héllo 😀 \u2028' } },
      { name: 'get-sum', arguments: { a: 1, b: 2.5 } },
      { name: 'get-structured-content', arguments: { location: 'Chicago' } },
      { name: 'get-tiny-image', arguments: {} },
      { name: 'echo', arguments: {} },
    ];
    for (const call of calls) {
      expect(await governed.callTool(call)).toEqual(await direct.callTool(call));
    }
  });

  it('passes progress on while a call runs', async () => {
    const governed = await connect(shimmed());
    const progress: number[] = [];
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
    await governed.callTool(call, undefined, {
      onprogress: ({ progress: at }) => progress.push(at),
    });
    // The client itself may lose the last one, when it comes in one read with the answer.
    expect(progress.slice(0, 3)).toEqual([1, 2, 3]);
  });

  it('gets a large message whole, and its event says that it was not read', async () => {
    verifies('IP-6.2', 'IP-1.10', 'SL-7.6');
    const governed = await connect(shimmed());
    const message = 'x'.repeat(3_000_000);
    const answer = await governed.callTool({ name: 'echo', arguments: { message } });
    expect(answer['content']).toEqual([{ type: 'text', text: `Echo: ${message}` }]);
    const events = await eventsAfterwards();
    const start = events.find((event) => event.type === 'tool_call_start');
    expect(start).toMatchObject({ call: { preview: { truncated: true } } });
    const end = events.find((event) => event.type === 'tool_call_end');
    expect(end).toMatchObject({ status: 'OK', preview: { truncated: true } });
  });
});

describe('a call that the policy stops', () => {
  it('is answered with a hint, and recorded', async () => {
    verifies('T-A1.3', 'IP-3.2', 'IP-3.2.1', 'IP-3.2.2', 'IP-3.2.4', 'IP-3.3');
    const governed = await connect(shimmed());
    const refused = await governed.callTool({ name: 'get-env', arguments: {} }).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(refused).toMatchObject({ code: -32083 });
    expect(String(refused)).toContain('Ask a person for the value.');
    const data = refused instanceof McpError ? refused.data : undefined;
    expect(parseErrorData(data)).toMatchObject({
      ok: true,
      value: { subluminal: { action: 'REJECT_WITH_HINT', rule_id: 'no-env' } },
    });
    const types = (await eventsAfterwards()).map(({ type }) => type);
    expect(types).toEqual([
      'run_start',
      'policy_loaded',
      'tool_call_start',
      'tool_call_decision',
      'hint_issued',
      'tool_call_end',
      'run_end',
    ]);
  });

  it('leaves the session usable, and the summary tells of it', async () => {
    verifies('IP-1.8', 'SL-10.1');
    const governed = await connect(shimmed());
    const sum = { name: 'get-sum', arguments: { a: 1, b: 1 } };
    await governed.callTool(sum);
    await governed.callTool(sum);
    await expect(governed.callTool(sum)).rejects.toMatchObject({ code: -32081 });
    await governed.callTool({ name: 'echo', arguments: { message: 'still here' } });
    expect((await eventsAfterwards()).at(-1)).toMatchObject({
      type: 'run_end',
      run: { summary: { calls_total: 4, calls_allowed: 3, calls_blocked: 1 } },
    });
  });
});

describe('a server that cannot start', () => {
  it('answers with the reason', async () => {
    verifies('EC-STDIO-009');
    const missing = join(folder, 'no-such-server');
    await expect(connect(shimmed([missing]))).rejects.toThrow(
      /no such command|could not be started/,
    );
  });
});

describe('the end of a session', () => {
  /** A server that goes neither by the end of its input nor by SIGTERM. */
  const STUBBORN = `
    process.on('SIGTERM', () => {});
    process.stdin.resume();
    require('node:fs').writeFileSync(process.argv[1], String(process.pid));
    setInterval(() => {}, 1000);
  `;

  it.each([
    ['the end of its input', undefined, 0],
    ['SIGTERM', 'SIGTERM', 143],
    ['SIGINT', 'SIGINT', 130],
    ['SIGHUP', 'SIGHUP', 129],
  ] as const)('by %s leaves nothing running', async (_how, signal, code) => {
    verifies('T-A1.4', 'T-A1.5');
    const pidFile = join(folder, 'pid');
    const times = { SUB_GRACE_MS: '100', SUB_TERM_GRACE_MS: '100' };
    const env = { HOME: folder, SUB_HOME: join(folder, 'home'), ...times };
    const [, , ...args] = shimmed([process.execPath, '-e', STUBBORN, pidFile]);
    const shim = startSub(args, { cwd: folder, env });
    const over = ended(shim);
    const pid = await pidIn(pidFile);
    if (signal === undefined) shim.stdin?.end();
    else shim.kill(signal);
    expect((await over).code).toBe(code);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  async function pidIn(file: string): Promise<number> {
    const changes = watch(folder, { signal: AbortSignal.timeout(20_000) })[Symbol.asyncIterator]();
    for (let change = changes.next(); ; change = changes.next()) {
      // Nobody waits for the last one.
      change.catch(() => undefined);
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
      if (text !== '') return Number(text);
      if ((await change).done === true) break;
    }
    throw new Error('the server did not start');
  }
});

it.each(['shim', 'sub'])('%s is built of plain ASCII, as its launcher reads it', (which) => {
  const chunks = join(ROOT, 'packages/cli/dist', which);
  const scripts = readdirSync(chunks).filter((name) => existsSync(join(chunks, `${name}.cache`)));
  expect(scripts.length).toBeGreaterThan(5);
  const odd = scripts.filter((name) =>
    readFileSync(join(chunks, name)).some((byte) => byte > 0x7f),
  );
  expect(odd).toEqual([]);
});

it('starts without loading what a policy of names does not need', () => {
  const bundle = readFileSync(join(ROOT, 'packages/cli/dist/shim.js'), 'utf8');
  const inputs = [...bundle.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, path]) => path);
  expect(inputs.length).toBeGreaterThan(20);
  for (const heavy of [
    'node_modules/yaml',
    're2js',
    'cel-js',
    'sqlite',
    'commander',
    'plane/stores/ledger',
  ]) {
    expect(inputs.filter((path) => path?.includes(heavy))).toEqual([]);
  }
});

// The official client of 2026-07-28 on a server of SDK v2, and the one of the legacy era on the same server without
// sessions: they cannot tell whether `sub shim --url` stands between them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundledFixture, type Started, startServer } from '../conformance/mcp/fixtures.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { UNDER_TEST } from './driver.ts';
import { normal } from './everything.ts';

/** What both clients can do. */
interface Agent {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listResourceTemplates(): Promise<unknown>;
  readResource(params: { uri: string }): Promise<unknown>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<unknown>;
  complete(params: object): Promise<unknown>;
  getServerCapabilities(): unknown;
  getServerVersion(): unknown;
  close(): Promise<void>;
}

const INFO = { name: 'remote', version: '1' };
const ELICITED = { action: 'accept' as const, content: { confirmed: true, name: 'Zoë' } };
/** They change what other tools answer, or belong to tasks. */
const STAGED = /task|change/;

let folder: string;
let server: Started;

beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-remote-modern-'));
  server = await startServer([bundledFixture('modern-server'), 'both']);
}, 60_000);

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function program() {
  const home = mkdtempSync(join(folder, 'home-'));
  const flags = ['--server-name', 'remote', '--events', 'off', '--url', server.url];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SUB_HOME: join(home, 'sub') };
  return { command: process.execPath, args: [UNDER_TEST, 'shim', ...flags], env };
}

async function modernAgent(how: 'direct' | 'governed'): Promise<Agent> {
  const client = new ModernClient(INFO, {
    capabilities: { roots: {}, sampling: {}, elicitation: {} },
    versionNegotiation: { mode: 'auto' },
  });
  client.setRequestHandler('elicitation/create', () => ELICITED);
  const way = how === 'direct' ? new ModernHttp(new URL(server.url)) : new ModernStdio(program());
  await client.connect(way);
  return client;
}

async function legacyAgent(how: 'direct' | 'governed'): Promise<Agent> {
  const client = new Client(INFO, { capabilities: {} });
  const direct = () => new StreamableHTTPClientTransport(new URL(server.url));
  await client.connect(how === 'direct' ? direct() : new StdioClientTransport(program()));
  return client;
}

async function outcome(act: Promise<unknown>): Promise<unknown> {
  try {
    return normal(await act);
  } catch (cause) {
    const { message, code, data } = cause as { message: string; code?: unknown; data?: unknown };
    // The client of the legacy era shows the body of a refusal by HTTP; through the shim it is an error like any other.
    const body = /endpoint: (\{.*\})$/.exec(message)?.[1];
    if (body === undefined) return normal({ message, code, data });
    const { error } = JSON.parse(body) as { error: { code: number; message: string } };
    return normal({ ...error, message: `MCP error ${error.code}: ${error.message}`, data });
  }
}

describe.each([
  ['2026-07-28', modernAgent],
  ['2025-11-25, without sessions', legacyAgent],
])('a client of %s', (_, open) => {
  let direct: Agent;
  let governed: Agent;

  beforeAll(async () => {
    [direct, governed] = await Promise.all([open('direct'), open('governed')]);
  }, 60_000);

  afterAll(async () => {
    await Promise.all([direct, governed].map((agent) => agent.close()));
  });

  async function expectSame(act: (agent: Agent) => Promise<unknown>): Promise<void> {
    const [without, within] = await Promise.all([outcome(act(direct)), outcome(act(governed))]);
    expect(within).toEqual(without);
  }

  test('sees the same server', async () => {
    await expectSame((agent) =>
      Promise.resolve([agent.getServerCapabilities(), agent.getServerVersion()]),
    );
    await expectSame((agent) => agent.listTools());
    await expectSame((agent) => agent.listResources());
    await expectSame((agent) => agent.listResourceTemplates());
    await expectSame((agent) => agent.listPrompts());
  });

  test('gets the same from each tool', async () => {
    const { tools } = await direct.listTools();
    const names = tools.map(({ name }) => name).filter((name) => !STAGED.test(name));
    expect(names.length).toBeGreaterThan(10);
    for (const name of [...names, 'no-such-tool']) {
      await expectSame((agent) => agent.callTool({ name, arguments: {} }));
    }
  }, 120_000);

  test('reads the same resources and prompts, and the same completions', async () => {
    const { resources } = await direct.listResources();
    for (const uri of [...resources.map((one) => one.uri), 'test://nothing']) {
      await expectSame((agent) => agent.readResource({ uri }));
    }
    const { prompts } = await direct.listPrompts();
    for (const { name } of prompts) {
      await expectSame((agent) => agent.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } }));
    }
    const ref = { type: 'ref/prompt', name: prompts[0]?.name ?? '' };
    await expectSame((agent) => agent.complete({ ref, argument: { name: 'arg1', value: 'p' } }));
  }, 120_000);
});

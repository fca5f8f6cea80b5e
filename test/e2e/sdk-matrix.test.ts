// The official clients before the official servers: what a client sees through `sub` is what it sees directly.
import { StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServe, subHome } from '../conformance/mcp/sub-serve.ts';
import { openClient, type SdkTransports, type SdkVersion } from './sdk-client.ts';
import { transcript } from './sdk-features.ts';
import { EVERYTHING, type MatrixServer, SDK_V1, SDK_V2, SDK_V2_WITH_INPUT } from './sdk-servers.ts';
import { ensureBuilt, SUB } from './sub.ts';

const HOOK_MAX_MS = 60_000;

interface Pair {
  readonly version: SdkVersion;
  readonly server: MatrixServer;
}

const PAIRS: readonly Pair[] = [
  { version: 'v1', server: SDK_V1 },
  { version: 'v1', server: SDK_V2 },
  { version: 'v1', server: EVERYTHING },
  { version: 'v2', server: SDK_V1 },
  { version: 'v2', server: SDK_V2_WITH_INPUT },
  { version: 'v2', server: EVERYTHING },
];

function overHttp(url: string): SdkTransports {
  return {
    v1: () => new StreamableHTTPClientTransport(new URL(url)),
    v2: () => new ModernHttp(new URL(url)),
  };
}

function overStdio(args: readonly string[], env: Record<string, string>): SdkTransports {
  const program = { command: process.execPath, args: [...args], env, stderr: 'ignore' as const };
  return { v1: () => new StdioClientTransport(program), v2: () => new ModernStdio(program) };
}

describe.each(PAIRS)('a client on SDK $version before $server.name', ({ version, server }) => {
  const stops: (() => Promise<void>)[] = [];
  const seen = async (transports: SdkTransports): Promise<object> => {
    const open = await openClient(version, transports);
    try {
      // A client of 2026-07-28 gets the log only where a request asks for it, which this one does not.
      const logs = version === 'v1' && server.surface.logs === true;
      return await transcript(open, { ...server.surface, logs });
    } finally {
      await open.client.close();
    }
  };
  let url = '';
  let origin = '';
  let direct: object = {};
  const home = subHome(SUB);

  beforeAll(async () => {
    ensureBuilt();
    const started = await server.http();
    stops.push(() => started.stop());
    url = started.url;
    const serve = await startServe(home, {
      http: { url },
      stdio: { command: [process.execPath, ...server.stdio()] },
    });
    stops.unshift(() => serve.stop());
    origin = serve.origin;
    direct = await seen(overHttp(url));
  }, HOOK_MAX_MS);

  afterAll(async () => {
    for (const stop of stops) await stop();
    home.remove();
  }, HOOK_MAX_MS);

  it('sees the same through sub shim --url', async () => {
    const args = [SUB, 'shim', '--server-name', 'matrix', '--url', url];
    expect(await seen(overStdio(args, home.env))).toEqual(direct);
  });

  it('sees the same through sub serve before HTTP', async () => {
    expect(await seen(overHttp(`${origin}/mcp/http`))).toEqual(direct);
  });

  it('sees through sub serve before stdio what it sees of the server on stdio', async () => {
    const onStdio = await seen(overStdio(server.stdio(), home.env));
    expect(await seen(overHttp(`${origin}/mcp/stdio`))).toEqual(onStdio);
  });
});

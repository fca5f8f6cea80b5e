// An MCP server on loopback whose tools answer what a test has put there.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { membersOf, parsed, textOf } from '../model-script.ts';

export interface StandInTool {
  readonly name: string;
  readonly description: string;
}

export interface ToolServerStandIn {
  readonly url: string;
  readonly tools: StandInTool[];
  /** Answers by the `query` that a tool is called with. */
  readonly answers: Map<string, string>;
  /** The arguments of all calls. */
  readonly calls: readonly string[];
  stop(): Promise<void>;
}

const INPUT = {
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look for.' } },
};

export async function startToolServer(tools: StandInTool[]): Promise<ToolServerStandIn> {
  const answers = new Map<string, string>();
  const calls: string[] = [];
  const resultOf = (method: string, params: { readonly [name: string]: unknown }): unknown => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params['protocolVersion'],
          capabilities: { tools: {} },
          serverInfo: { name: 'stand-in', version: '1' },
        };
      case 'tools/list':
        return { tools: tools.map((tool) => ({ ...tool, inputSchema: INPUT })) };
      case 'tools/call': {
        const args = membersOf(params['arguments']);
        calls.push(`${textOf(params['name'])} ${JSON.stringify(args)}`);
        const found = answers.get(textOf(args['query'])) ?? 'Nothing was found.';
        return { content: [{ type: 'text', text: found }] };
      }
      default:
        return {};
    }
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { id, method, params } = membersOf(parsed(body));
      if (request.method !== 'POST') return response.writeHead(405).end();
      if (id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      const result = resultOf(textOf(method), membersOf(params));
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tools,
    answers,
    calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

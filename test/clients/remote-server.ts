// Notes behind an address, on the official SDK: Streamable HTTP with sessions, and the SSE of 2024-11-05.
/* oxlint-disable typescript/no-deprecated -- servers with the old transport are there, and are tested. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface NotesServer {
  /** Without its path: `/mcp` and `/sse`. */
  readonly origin: string;
  /** What was written, as the calls came. */
  readonly written: readonly string[];
  readonly close: () => Promise<void>;
}

export const NOTE = 'Hello from far away.';

/** Lets in who sends this token. */
export async function startNotesServer(token: string): Promise<NotesServer> {
  const written: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Map<string, SSEServerTransport>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
    } else if (pathname === '/mcp') {
      const known = sessions.get(String(request.headers['mcp-session-id']));
      await (known ?? (await newSession())).handleRequest(request, response);
    } else if (pathname === '/sse' && request.method === 'GET') {
      const stream = new SSEServerTransport('/messages', response);
      streams.set(stream.sessionId, stream);
      await notesServer(written).connect(stream);
    } else if (pathname === '/messages') {
      const stream = streams.get(searchParams.get('sessionId') ?? '');
      if (stream === undefined) response.writeHead(404).end();
      else await stream.handlePostMessage(request, response);
    } else {
      response.writeHead(pathname === '/sse' ? 405 : 404).end();
    }
  };

  const newSession = async (): Promise<StreamableHTTPServerTransport> => {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await notesServer(written).connect(transport);
    return transport;
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    written,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function notesServer(written: string[]): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  server.registerTool('read_note', { description: 'Reads the note.' }, () => said(NOTE));
  const inputSchema = { text: z.string() };
  server.registerTool(
    'write_note',
    { description: 'Writes the note.', inputSchema },
    ({ text }: { readonly text: string }) => {
      written.push(text);
      return said('Written.');
    },
  );
  return server;
}

function said(text: string) {
  return { content: [{ type: 'text' as const, text }] };
}

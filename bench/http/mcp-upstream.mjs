// The MCP server of the bench: it answers calls of both eras at once, as JSON.
import { serve } from '../gateway/serve.mjs';

const text = 'A line of the file that was read, as many lines are. '.repeat(20);
const content = JSON.stringify([{ type: 'text', text }]);
let sessions = 0;

function answer(response, { id, method, params }) {
  const headers = { 'content-type': 'application/json' };
  const given = JSON.stringify(id);
  const send = (result) => {
    const body = `{"jsonrpc":"2.0","id":${given},"result":${result}}`;
    response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  };
  if (method === 'initialize') {
    sessions += 1;
    headers['mcp-session-id'] = `session-${sessions}`;
    const { protocolVersion } = params;
    const serverInfo = { name: 'bench', version: '1' };
    return send(JSON.stringify({ protocolVersion, capabilities: { tools: {} }, serverInfo }));
  }
  if (method === 'server/discover') {
    const supportedVersions = ['2026-07-28'];
    const listed = {
      supportedVersions,
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
    };
    return send(JSON.stringify({ resultType: 'complete', ...listed }));
  }
  if (id === undefined) return response.writeHead(202).end();
  return send(`{"resultType":"complete","content":${content}}`);
}

serve((request, response) => {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(response, JSON.parse(Buffer.concat(chunks).toString('utf8'))));
});

// A server on stdio that writes down each call before it answers: what it has executed outlives it.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file] = process.argv;
const TOOLS = [{ name: 'do', inputSchema: { type: 'object' } }];
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'counting', version: '1' };
    say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    say({ id, result: { tools: TOOLS } });
  } else if (method === 'tools/call') {
    const { n, waitMs = 0 } = params.arguments;
    appendFileSync(file, `${n}\n`);
    const progressToken = params['_meta']?.progressToken;
    if (progressToken !== undefined) {
      say({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    }
    const result = { content: [{ type: 'text', text: `done ${n}` }] };
    setTimeout(() => say({ id, result }), waitMs);
  } else {
    say({ id, result: {} });
  }
}

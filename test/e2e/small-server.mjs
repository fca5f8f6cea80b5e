// A server with the two tools that most tests call, without a library: it starts with every session
// of every test of adoption. It also takes calls of `hang`, which it never answers, and of `crash`.
import { createInterface } from 'node:readline';

const text = { type: 'string' };
const number = { type: 'number' };
const TOOLS = [
  { name: 'echo', inputSchema: { type: 'object', properties: { message: text } } },
  { name: 'get-sum', inputSchema: { type: 'object', properties: { a: number, b: number } } },
];

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'small', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: { message, a, b } }) => ({
    content: [{ type: 'text', text: name === 'echo' ? `Echo: ${message}` : `${a + b}` }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  // Notifications are for nobody here.
  if (id === undefined || params.name === 'hang') continue;
  if (params.name === 'crash') process.exit(3);
  const result = ANSWERS[method]?.(params);
  const told =
    result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...told })}\n`);
}

// A server on stdio that can be told to behave badly, by the first word of its arguments or by the tool that is called.
import { createInterface } from 'node:readline';

const [habit] = process.argv.slice(2);
const TOOLS = ['echo', 'late', 'hang', 'chatter', 'environment'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}));

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function answer(id, text) {
  send({ id, result: { content: [{ type: 'text', text }] } });
}

const CALLS = {
  echo: (id, { message }) => answer(id, `Echo: ${message}`),
  /** Answers after a while. */
  late: (id, { ms }) => setTimeout(() => answer(id, 'Late.'), ms),
  hang: () => {},
  /** Sends notifications that nobody has asked for, and then answers. */
  chatter: (id, { count, bytes }) => {
    for (let sent = 0; sent < count; sent++) {
      send({
        method: 'notifications/message',
        params: { level: 'info', data: `${sent} ${'x'.repeat(bytes)}` },
      });
    }
    answer(id, 'Done.');
  },
  environment: (id) => answer(id, Object.keys(process.env).join(' ')),
};

function take(line) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'attack', version: '1.0.0' };
    send({ id, result: { protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  else if (method === 'tools/call') CALLS[params.name](id, params.arguments ?? {});
  else send({ id, error: { code: -32601, message: 'no such method' } });
}

if (habit === 'deaf') {
  // It takes `initialize`, and then reads nothing any more.
  let text = '';
  process.stdin.setEncoding('utf8').on('data', (part) => {
    text += part;
    const [first, ...others] = text.split('\n');
    if (others.length === 0) return;
    process.stdin.pause();
    take(first);
  });
  setInterval(() => {}, 60_000);
} else {
  for await (const line of createInterface({ input: process.stdin })) take(line);
}

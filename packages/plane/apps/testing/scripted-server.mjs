// An MCP server on stdio that does what its tools are named after, in both eras.
import { createInterface } from 'node:readline';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const waiting = new Map();
let held = [];
let asked = 0;

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const TOOLS = {
  echo: ({ message }) => text(String(message)),
  pid: () => text(String(process.pid)),
  variable: ({ name }) => text(String(process.env[name])),
  die: () => process.exit(3),
  large: ({ bytes }) => text('x'.repeat(bytes)),
  count: ({ message }) => text(String(String(message).length)),
  async ask() {
    asked += 1;
    const id = `ask-${asked}`;
    send({ id, method: 'roots/list' });
    return text(JSON.stringify(await new Promise((resolve) => waiting.set(id, resolve))));
  },
  progress(_, { meta }) {
    for (const progress of [1, 2]) {
      const params = { progressToken: meta.progressToken, progress, total: 2 };
      send({ method: 'notifications/progress', params });
    }
    return text('done');
  },
  hold: (_, { id }) =>
    new Promise((resolve) => {
      held.push({ id, resolve: () => resolve(text('held')) });
    }),
  holding: () => text(String(held.length)),
  release() {
    const ids = held.map((one) => one.id);
    for (const one of held) one.resolve();
    held = [];
    return text(JSON.stringify(ids));
  },
  log() {
    send({ method: 'notifications/message', params: { level: 'info', data: 'a line' } });
    return text('logged');
  },
};

const ANY = { type: 'object' };
const SCHEMAS = {
  echo: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
};

async function answer({ id, method, params = {} }) {
  const { _meta: meta = {} } = params;
  const isModern = meta[VERSION] !== undefined;
  const done = (result) =>
    send({ id, result: isModern ? { resultType: 'complete', ...result } : result });
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'scripted', version: '1' };
      return done({ protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo });
    }
    case 'server/discover':
      return done({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    case 'tools/list':
      return done({
        tools: Object.keys(TOOLS).map((name) => ({ name, inputSchema: SCHEMAS[name] ?? ANY })),
      });
    case 'tools/call':
      return done(await TOOLS[params.name](params.arguments ?? {}, { id, meta }));
    case 'subscriptions/listen':
      return send({
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta: { [SUBSCRIPTION]: id }, notifications: params.notifications },
      });
    default:
      return send({ id, error: { code: -32601, message: `no method ${method}` } });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const given = JSON.parse(line);
  for (const message of Array.isArray(given) ? given : [given]) {
    if (message.method === 'notifications/cancelled') {
      held = held.filter((one) => one.id !== message.params.requestId);
    } else if (message.method === undefined)
      waiting.get(message.id)?.(message.result ?? message.error);
    else if (message.id !== undefined) void answer(message);
  }
});

// A server whose tools answer what its script says, and which writes down what it was asked.
//   node scripted.mjs SCRIPT LOG
// SCRIPT is JSON: { TOOL: text, … }; `$NAME` in a text stands for a variable of its environment,
// `$NAME.base64` for the same in another form. A tool whose text is `!exit` ends the server in the
// middle of the call. What stands under `about` is what the server says of itself and of each tool.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file = '', log = ''] = process.argv;
const script = () => JSON.parse(readFileSync(file, 'utf8'));
const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const FORMS = {
  raw: (value) => value,
  base64: (value) => Buffer.from(value).toString('base64'),
  base64url: (value) => Buffer.from(`x${value}`).toString('base64url'),
  hex: (value) => Buffer.from(value).toString('hex'),
  url: encodeURIComponent,
  json: (value) => JSON.stringify(JSON.stringify(value)),
  halves: (value) => value.slice(value.length / 2) + value.slice(0, value.length / 2),
  backwards: (value) => [...value].toReversed().join(''),
};

const filled = (text) =>
  text.replaceAll(/\$([A-Z_0-9]+)(?:\.(\w+))?/g, (_, name, form = 'raw') =>
    FORMS[form](process.env[name] ?? ''),
  );
const answer = (text) => ({ content: [{ type: 'text', text: filled(text) }] });

function act({ id, method, params }) {
  if (method === 'initialize') {
    const serverInfo = { name: 'scripted', version: '1' };
    const capabilities = { tools: {} };
    const { protocolVersion } = params;
    const instructions = filled(script().about ?? '');
    return say({ id, result: { protocolVersion, capabilities, serverInfo, instructions } });
  }
  if (method === 'tools/list') {
    const inputSchema = { type: 'object' };
    const { about = '', ...tools } = script();
    const description = filled(about);
    const listed = Object.keys(tools).map((name) => ({ name, description, inputSchema }));
    return say({ id, result: { tools: listed } });
  }
  if (method !== 'tools/call') return say({ id, result: {} });
  const { name, arguments: args } = params;
  appendFileSync(log, `${JSON.stringify({ name, args })}\n`);
  const text = script()[name] ?? 'done';
  if (text !== '!exit') return say({ id, result: answer(text) });
  process.exit(3);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method !== undefined && message.id !== undefined) act(message);
  })
  .on('close', () => process.exit(0));

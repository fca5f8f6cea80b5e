// An MCP server that shows what a file says, so that it can turn between two starts; and that
// misbehaves as the file says.
//   rug-pull-server.mjs FILE
// { instructions, tools, prompts, resources, templates, pages, mode }
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , file = ''] = process.argv;
const script = JSON.parse(readFileSync(file, 'utf8'));
const { instructions, tools = [], pages = 1, mode = 'plain' } = script;
const shown = JSON.stringify({ tools, instructions }).replaceAll('$TOKEN', process.env.TOKEN ?? '');
const own = JSON.parse(shown);

if (mode === 'deaf') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1_000);
}
if (mode === 'dies') {
  writeSync(2, `\u001b[2Jno \u202e${process.env.TOKEN ?? 'key'} here\n`);
  process.exit(3);
}
if (mode === 'greets') process.stdout.write('Hello, I am not MCP.\n{"a":\n');

const say = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function page(key, items, cursor) {
  if (mode === 'circles') return { [key]: items, nextCursor: 'again' };
  const at = Number(cursor ?? 0);
  const size = Math.ceil(items.length / pages);
  const next = at + 1 < pages ? { nextCursor: String(at + 1) } : {};
  return { [key]: items.slice(at * size, (at + 1) * size), ...next };
}

const LISTS = {
  'tools/list': ['tools', own.tools],
  'prompts/list': ['prompts', script.prompts],
  'resources/list': ['resources', script.resources],
  'resources/templates/list': ['resourceTemplates', script.templates],
};

function answer({ id, method, params }) {
  if (mode === 'silent') return writeFileSync(`${file}.asked`, '');
  if (mode === 'modern') {
    const version = params?.['_meta']?.['io.modelcontextprotocol/protocolVersion'];
    if (version !== '2026-07-28') return say({ id, error: { code: -32601, message: 'modern' } });
  }
  if (method === 'initialize') {
    const serverInfo = { name: script.name ?? 'rug-pull', version: '1' };
    const capabilities = { tools: {}, ...(script.prompts && { prompts: {} }) };
    const result = { protocolVersion: params.protocolVersion, capabilities, serverInfo };
    if (mode === 'asks') say({ id: 'from-server', method: 'roots/list' });
    return say({
      id,
      result: { ...result, ...(instructions && { instructions: own.instructions }) },
    });
  }
  if (mode === 'floods' && method === 'tools/list') {
    return process.stdout.write('x'.repeat(17 * 1024 * 1024));
  }
  const [key, items] = LISTS[method] ?? [];
  // Some answer whatever they are asked.
  if (items === undefined && mode === 'simple') return say({ id, result: {} });
  if (items === undefined) return say({ id, error: { code: -32601, message: 'no such method' } });
  say({ id, result: page(key, items, params?.cursor) });
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method !== undefined && message.id !== undefined) answer(message);
});
if (mode !== 'deaf') lines.on('close', () => process.exit(0));

// A server with a shell: `run {command}` runs it, `write {path, content}` writes a file, and resources
// and prompts are answered. What reaches it is done.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

function done({ name, arguments: args = {} }) {
  if (name === 'run') return execFileSync('sh', ['-c', args.command], { encoding: 'utf8' });
  if (name === 'write') writeFileSync(args.path, args.content);
  return 'done';
}

function resultOf(method, params) {
  if (method === 'initialize') {
    const serverInfo = { name: 'shell', version: '1' };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') {
    const inputSchema = { type: 'object' };
    return { tools: ['run', 'write', 'note'].map((name) => ({ name, inputSchema })) };
  }
  if (method !== 'tools/call') return { reached: true };
  try {
    return { content: [{ type: 'text', text: done(params) }] };
  } catch (cause) {
    return { content: [{ type: 'text', text: String(cause) }], isError: true };
  }
}

/** What was broken off is no message. */
function messageIn(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = messageIn(line);
  if (id === undefined) continue;
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) })}\n`,
  );
}

// An agent that does what its input says, line by line, through the official client.
//   node driven-agent.mjs PLAN
// PLAN is JSON: { sub, servers: { NAME: ['--', command, …] or ['--url', address] } }. Each line of its
// input is { server, tool, args }; each line of its output says what came of it.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const plan = JSON.parse(process.argv[2]);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function open([name, words]) {
  const client = new Client({ name: 'driven', version: '1.0.0' });
  const args = [plan.sub, 'shim', '--server-name', name, ...words];
  // What a shim says goes where the agent's own words go.
  const stderr = 'inherit';
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: process.env, stderr }),
  );
  await client.listTools();
  return [name, client];
}

const clients = new Map(await Promise.all(Object.entries(plan.servers).map(open)));
say({ ready: true });

async function act({ server, tool, args }) {
  try {
    const {
      content,
      isError = false,
      _meta,
    } = await clients
      .get(server)
      .callTool({ name: tool, arguments: args }, undefined, { timeout: 50_000 });
    return { ok: !isError, text: content.map(({ text }) => text).join('\n'), meta: _meta };
  } catch (error) {
    // Not the arguments that are suggested: they are its own, corrected.
    const { reason_code, rule_id, action } = error.data?.subluminal ?? {};
    return { ok: false, message: error.message, reason_code, rule_id, action };
  }
}

// One at a time, in order: each line waits for those before it.
for await (const line of createInterface({ input: process.stdin }))
  say(await act(JSON.parse(line)));
await Promise.all([...clients.values()].map((client) => client.close()));

// A client without `sub run`, driven line by line: it starts shims through the official SDK, as an imported
// config has them, and ends them as clients do.
//   node session-agent.mjs PLAN
// PLAN is JSON: { shim: [command, …], servers: { NAME: [command, …] } }. Each line of its input is
// { do: "open" | "list" | "call" | "close" | "kill", server, tool, args, signal }; each line of its output
// answers one, with what the server or the shim has said.
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const plan = JSON.parse(process.argv[2]);
const open = new Map();

const ORDERS = {
  async open({ server }) {
    const client = new Client({ name: 'session', version: '1.0.0' });
    const [command, ...args] = [
      ...plan.shim,
      '--server-name',
      server,
      '--',
      ...plan.servers[server],
    ];
    const transport = new StdioClientTransport({
      command,
      args,
      env: process.env,
      stderr: 'inherit',
    });
    await client.connect(transport);
    open.set(server, { client, transport });
  },
  async list({ server }) {
    const { tools } = await open.get(server).client.listTools();
    return tools.map(({ name }) => name);
  },
  async call({ server, tool = 'echo', args = { message: 'hi' } }) {
    const call = { name: tool, arguments: args };
    const answer = open.get(server).client.callTool(call);
    const told = answer.catch(({ message }) => message);
    return tool === 'hang' ? undefined : told;
  },
  /** As the SDK does it: stdin is closed; after a while SIGTERM, then SIGKILL. */
  close: ({ server }) => open.get(server).client.close(),
  async kill({ server, signal }) {
    process.kill(open.get(server).transport.pid, signal);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  const told = await ORDERS[order.do](order);
  process.stdout.write(`${JSON.stringify({ ...order, told })}\n`);
}
// A client that just exits, with servers that still run.
process.exit(0);

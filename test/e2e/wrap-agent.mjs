// An agent with a script in place of a model, for the tests of `sub wrap` and `sub import`: it reads
// its servers from a config as a client does, starts them, calls what its plan says, prints what it
// got, and ends as it is told.
//   node wrap-agent.mjs PLAN
// PLAN is JSON: { config, calls: [[server, tool, args], …], kills, adds, bare, linger, deaf, exit,
// signal }.
import { readFileSync, writeFileSync } from 'node:fs';

const plan = JSON.parse(process.argv[2]);
const config = JSON.parse(readFileSync(plan.config, 'utf8'));
const servers = plan.calls.length === 0 ? [] : Object.entries(config.mcpServers);

const pids = new Map();

async function open([name, { command, args = [], env = {} }]) {
  // An agent that calls nothing starts without it.
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const client = new Client({ name: 'scripted', version: '1.0.0' });
  const inherited = plan.bare ? {} : process.env;
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...inherited, ...env },
    stderr: plan.stderr ?? 'ignore',
  });
  await client.connect(transport);
  pids.set(name, transport.pid);
  return [name, client];
}

const clients = new Map(await Promise.all(servers.map(open)));

async function call([server, name, given]) {
  try {
    await clients.get(server).callTool({ name, arguments: given });
    return 'ok';
  } catch (error) {
    return error.data?.subluminal?.action ?? `failed: ${error.message}`;
  }
}

// The shim of this server, which is all that an agent sees of a server.
if (plan.kills !== undefined) process.kill(pids.get(plan.kills), 'SIGKILL');
const outcomes = [];
for (const one of plan.calls) outcomes.push(await call(one));
// Somebody adds a server in the agent's own window.
if (plan.adds !== undefined) {
  const now = JSON.parse(readFileSync(plan.config, 'utf8'));
  now.mcpServers[plan.adds] = { command: 'added', args: [] };
  writeFileSync(plan.config, JSON.stringify(now, null, 2));
}
if (plan.deaf) process.on('SIGTERM', () => undefined).on('SIGINT', () => undefined);
const { SUB_ACTIVE: active, SUB_RUN_ID: run, MARK: mark } = process.env;
const endpoint = process.env.SUB_GOVERNANCE_ENDPOINT;
const started = Object.fromEntries(
  Object.entries(config.mcpServers).map(([name, { command, args = [] }]) => [
    name,
    [command, ...args],
  ]),
);
process.stdout.write(
  `agent: ${JSON.stringify({ outcomes, active, run, mark, endpoint, started, tty: process.stdin.isTTY === true })}\n`,
);
// Then somebody else has to end it.
if (plan.linger) await new Promise((resolve) => setTimeout(resolve, 600_000));
if (plan.signal !== undefined) process.kill(process.pid, plan.signal);
await Promise.all([...clients.values()].map((client) => client.close()));
process.exit(plan.exit ?? 0);

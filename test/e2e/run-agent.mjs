// An agent with a script in place of a model, for the tests of `sub run`: it starts its servers
// behind `sub shim`, calls what its plan says, prints what it got, and ends as it is told.
//   node run-agent.mjs PLAN
// PLAN is JSON: { sub, server, serverArgs, servers, calls: [[server, tool, args], …], bare, together, linger, exit, timeoutMs }.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const plan = JSON.parse(process.argv[2]);

async function open(name) {
  const client = new Client({ name: 'scripted', version: '1.0.0' });
  const args = [plan.sub, 'shim', '--server-name', name];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...args, '--', process.execPath, plan.server, ...plan.serverArgs],
      // The SDK itself gives a server HOME, PATH and a few more.
      ...(plan.bare ? {} : { env: process.env }),
      stderr: 'ignore',
    }),
  );
  return [name, client];
}

const clients = new Map(await Promise.all(plan.servers.map(open)));

async function call([server, name, given]) {
  try {
    const options = { timeout: plan.timeoutMs };
    await clients.get(server).callTool({ name, arguments: given }, undefined, options);
    return 'ok';
  } catch (error) {
    return error.data?.subluminal?.action ?? `failed: ${error.message}`;
  }
}

const outcomes = [];
if (plan.together) outcomes.push(...(await Promise.all(plan.calls.map(call))));
else for (const one of plan.calls) outcomes.push(await call(one));
process.stdout.write(`agent: ${JSON.stringify(outcomes)}\n`);
// Then somebody else has to end it.
if (plan.linger) await new Promise((resolve) => setTimeout(resolve, 600_000));
await Promise.all([...clients.values()].map((client) => client.close()));
process.exit(plan.exit ?? 0);

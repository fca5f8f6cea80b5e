// An agent with a few calls to make, without a client library: fifty of them start at once.
//   node fleet-agent.mjs SUB SERVER COUNT
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [, , sub, server, count] = process.argv;
const shim = [sub, 'shim', '--server-name', 'steady', '--', process.execPath, server];
const child = spawn(process.execPath, shim, { stdio: ['pipe', 'pipe', 'inherit'] });
const call = (id) => {
  const params = { name: 'echo', arguments: { id, run: process.env.SUB_RUN_ID } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`);
};
let refused = 0;
let done = 0;
call(0);
for await (const line of createInterface({ input: child.stdout })) {
  if (JSON.parse(line).error !== undefined) refused++;
  if (++done < Number(count)) call(done);
  else child.stdin.end();
}
process.stdout.write(`${done} answered, ${refused} refused\n`);

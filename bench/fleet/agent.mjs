// An agent without a model, for the fleet bench: starts its server, says `ready`, and on the first
// byte of its input makes its calls one after the other; then it prints what became of them.
// Usage: node bench/fleet/agent.mjs CALLS COMMAND ARGS…
import { spawn } from 'node:child_process';

const [wanted, command, ...args] = process.argv.slice(2);
const calls = Number(wanted);
const TEXT = 'Commit first: a crash must not lose an allowed call. '.repeat(16);

const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => server.on('exit', (code) => resolve(code)));
let rest = '';
let onAnswer = () => {};
server.stdout.setEncoding('utf8');
server.stdout.on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines) onAnswer(line);
});
// A server that is gone answers nothing: the agent tells what it has, instead of waiting.
server.stdout.on('end', () => finish());

function ask(id, method, params) {
  return new Promise((resolve) => {
    onAnswer = resolve;
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
}

const counts = { answered: 0, refused: 0 };
let isFinished = false;

function finish() {
  if (isFinished) return;
  isFinished = true;
  process.stdout.write(`${JSON.stringify(counts)}\n`);
}

await ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
const begun = new Promise((resolve) => process.stdin.once('data', resolve));
process.stdout.write('ready\n');
await begun;
for (let id = 1; id <= calls; id++) {
  const given = { n: `${process.pid}-${id}`, text: TEXT };
  const line = await ask(id, 'tools/call', { name: 'create_note', arguments: given });
  const answer = JSON.parse(line);
  if (answer.id === id && answer.result?.content?.[0]?.text === TEXT) counts.answered++;
  else counts.refused++;
}
server.stdin.end();
await ended;
finish();
process.exit(0);

// An agent without a model, for the fleet bench: starts its server, says `ready`, and on the first
// byte of its input makes its calls one after the other; then it prints what became of them. With
// each word it tells the CPU time that was used so far, by itself, the server and what is between.
// Usage: node bench/fleet/agent.mjs CALLS COMMAND ARGS…
import { spawn } from 'node:child_process';
import { childRunning, endedCpuMs, ownCpuMs } from './cpu.mjs';

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
server.stdout.on('end', () => void ended.then(finish));

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
  say('ended', endedCpu());
}

/** What a shim used is the rest of all that was below it. */
let serverMs = 0;

function livingCpu() {
  // The last argument is the script of the server, which may be started directly.
  const child = childRunning(server.pid, args.at(-1));
  serverMs = ownCpuMs(child ?? server.pid);
  return { shim: child === undefined ? 0 : ownCpuMs(server.pid), server: serverMs };
}

function endedCpu() {
  const below = endedCpuMs(process.pid);
  const isDirect = args.length === 1;
  return isDirect ? { shim: 0, server: below } : { shim: below - serverMs, server: serverMs };
}

function say(word, below) {
  const cpuMs = { agent: ownCpuMs(process.pid), ...below };
  process.stdout.write(`${JSON.stringify({ word, ...counts, cpuMs })}\n`);
}

await ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
const begun = new Promise((resolve) => {
  // Whoever was to say it may be gone.
  const giveUp = () => process.exit(1);
  process.stdin.once('end', giveUp);
  process.stdin.once('data', () => resolve(process.stdin.off('end', giveUp)));
});
say('ready', livingCpu());
await begun;
for (let id = 1; id <= calls; id++) {
  const given = { n: `${process.pid}-${id}`, text: TEXT };
  const line = await ask(id, 'tools/call', { name: 'create_note', arguments: given });
  const answer = JSON.parse(line);
  // A policy may put marks around it.
  if (answer.id === id && answer.result?.content?.[0]?.text?.includes(TEXT)) counts.answered++;
  else counts.refused++;
}
say('called', livingCpu());
server.stdin.end();
await ended;
finish();
process.exit(0);

// A bare relay: starts COMMAND and passes bytes both ways, nothing else. The floor of the benches.
// Usage: node bench/relay.mjs COMMAND ARGS…
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  process.stderr.write('relay: no command. Usage: node bench/relay.mjs COMMAND ARGS…\n');
  process.exit(2);
}
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
server.on('error', (cause) => {
  process.stderr.write(`relay: ${cause.message}\n`);
  process.exitCode = 127;
});
// The server may end before it has read all.
server.stdin.on('error', () => {});
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.on('exit', (code) => {
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});

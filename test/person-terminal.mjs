// A terminal that a person has open: it runs commands for the tests, with a terminal as their input.
// Usage: person-terminal.mjs SOCKET. It ends when whoever listens on the socket goes away.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const socket = connect(process.argv[2] ?? '');
socket.on('close', () => process.exit());
socket.on('error', () => process.exit());

createInterface({ input: socket }).on('line', (line) => {
  const { id, command, args, cwd, env } = JSON.parse(line);
  const child = spawn(command, args, { cwd, env, stdio: ['inherit', 'pipe', 'pipe'] });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  }
  child.on('close', (code, signal) => {
    socket.write(`${JSON.stringify({ id, code, signal, ...texts })}\n`);
  });
});

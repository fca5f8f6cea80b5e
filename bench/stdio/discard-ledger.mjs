// A ledger that confirms every line and keeps none, so that what the shims pay for events is in
// the figures and what a ledger pays is not. Ends with its stdin, and tells how many came.
// Usage: node bench/stdio/discard-ledger.mjs SOCKET
import { createServer } from 'node:net';

const [path] = process.argv.slice(2);
let total = 0;

const server = createServer((socket) => {
  // The first line says who speaks.
  let lines = -1;
  socket.on('data', (chunk) => {
    const before = lines;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    if (lines <= Math.max(0, before)) return;
    total += lines - Math.max(0, before);
    socket.write(`{"ack":${lines}}\n`);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(path, () => process.stdout.write('listening\n'));
process.stdin.resume();
process.stdin.on('end', () => {
  process.stdout.write(`${total}\n`, () => process.exit(0));
});

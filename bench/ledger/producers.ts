// A process of its own that sends calls to a ledger over its socket, by many connections at once: as fast
// as the ledger takes them. Prints what it has sent and how long that took until all was confirmed.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { LineMaker, type Source, sources } from './lines.ts';

const [socketPath = '', producersText, callsText] = process.argv.slice(2);
const producers = Number(producersText);
const CALLS_PER_WRITE = 10;

async function send(
  all: readonly Source[],
  number: number,
  calls: number,
): Promise<{ readonly events: number; readonly bytes: number }> {
  const maker = new LineMaker(all, number);
  const socket = connect(socketPath);
  await once(socket, 'connect');
  let seq = 0;
  let bytes = 0;
  let isSent = false;
  const confirmed = new Promise<void>((resolve, reject) => {
    createInterface({ input: socket }).on('line', (line) => {
      const count = Number(/^\{"ack":(\d+)\}$/.exec(line)?.[1]);
      if (isSent && count === seq) resolve();
    });
    socket.on('close', () => reject(new Error('the ledger has hung up')));
  });
  socket.write(`${JSON.stringify({ hello: 'subluminal.ingest.v1', producer: maker.producer })}\n`);
  for (let sent = 0; sent < calls; sent += CALLS_PER_WRITE) {
    let text = '';
    for (let one = sent; one < Math.min(calls, sent + CALLS_PER_WRITE); one++) {
      for (const line of maker.call()) {
        text += `${seq++} ${line}\n`;
        bytes += line.length;
      }
    }
    isSent = sent + CALLS_PER_WRITE >= calls;
    if (!socket.write(text)) await once(socket, 'drain');
  }
  await confirmed;
  socket.destroy();
  return { events: seq, bytes };
}

const all = sources();
const startMs = performance.now();
const share = Math.ceil(Number(callsText) / producers);
const sent = await Promise.all(
  Array.from({ length: producers }, (_, number) => send(all, number, share)),
);
const total = {
  calls: share * producers,
  events: sent.reduce((sum, { events }) => sum + events, 0),
  bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0),
  ms: performance.now() - startMs,
};
process.stdout.write(`${JSON.stringify(total)}\n`);

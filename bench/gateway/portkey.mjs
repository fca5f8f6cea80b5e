// Portkey's gateway, where it is installed: npm install --no-save @portkey-ai/gateway
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tellUsage } from './serve.mjs';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
await once(probe, 'close');

// It adds headers to the answers of `fetch`, which beside newer versions of @hono/node-server is an error 500 for
// every stream (Portkey-AI/gateway#1389): answers that are made here may be changed.
const { fetch } = globalThis;
globalThis.fetch = async (...call) => {
  const answer = await fetch(...call);
  return new Response(answer.body, answer);
};
process.argv.push(`--port=${port}`, '--headless');
await import('@portkey-ai/gateway/build/start-server.js');
while (!(await isListening())) await new Promise(setImmediate);
tellUsage({ url: `http://127.0.0.1:${port}` });

function isListening() {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

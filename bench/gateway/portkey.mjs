// Portkey's gateway, where it is installed: npm install --no-save @portkey-ai/gateway
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tellUsage } from './serve.mjs';

const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const { port } = probe.address();
probe.close();
await once(probe, 'close');

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

// A bare passthrough on node:http: the floor of the bench. Usage: floor.mjs UPSTREAM_URL
import { Agent, request as call } from 'node:http';
import { serve } from './serve.mjs';

const [upstream] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1_024 });

serve((request, response) => {
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const out = call(upstream + request.url, { method: request.method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  out.on('error', () => response.destroy());
  request.pipe(out);
});

// A hook over HTTP that decides nothing.
import { createServer } from 'node:http';

const server = createServer({ noDelay: true }, (request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 });
    response.end('{}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`);
});
// The bench ends it by closing its input.
process.stdin.resume().once('end', () => process.exit());

// A server of the bench in a process of its own: it tells its address, and what it used whenever it is asked.
import { createServer } from 'node:http';

export function serve(listener) {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () =>
    tellUsage({ url: `http://127.0.0.1:${server.address().port}` }),
  );
}

export function tellUsage(address) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
  });
  process.on('disconnect', () => process.exit());
  process.send(address);
}

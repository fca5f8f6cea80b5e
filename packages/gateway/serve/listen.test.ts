import { once } from 'node:events';
import { connect } from 'node:net';
import { isFailure } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { listenForGateway } from './listen.ts';

const GRACE_MS = 3_600_000;

it('a connection that nothing was sent on does not hold up the end', async () => {
  let arrive = () => {};
  const asked = new Promise<void>((arrived) => {
    arrive = arrived;
  });
  let release = () => {};
  const settings = { listen: { host: '127.0.0.1', port: 0 }, tls: null };
  const listener = await listenForGateway(settings, (_request, response) => {
    release = () => void response.end('Done.');
    arrive();
  });
  if (isFailure(listener)) throw new Error(listener.message);
  const unused = connect(Number(new URL(listener.url).port), '127.0.0.1');
  await once(unused, 'connect');
  const answered = fetch(listener.url);
  await asked;
  const closed = listener.close(GRACE_MS);
  await once(unused, 'close');
  // What was asked for is still answered.
  release();
  expect(await (await answered).text()).toBe('Done.');
  await closed;
});

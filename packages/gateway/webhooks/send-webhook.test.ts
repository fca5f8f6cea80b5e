import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPublicAddress } from '@subluminal/plane/os/public-address';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { WebhookSender } from './send-webhook.ts';
import { urlProblem } from './webhook-url.ts';

const SECRET = 'a-secret-of-the-receiver';
const NOW_MS = 1_794_916_800_000;
const LOCAL = { allowedHosts: ['127.0.0.1', 'localhost'], allowPrivateAddresses: true };
const MESSAGE = { deliveryId: 'd1', event: 'budget_soft', body: '{"v":1}' };

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receiver(answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, port, url: `http://127.0.0.1:${port}/hook` };
}

function sender(options: Partial<ConstructorParameters<typeof WebhookSender>[0]> = {}) {
  const made = new WebhookSender({
    rules: () => LOCAL,
    secretOf: async () => SECRET,
    nowMs: () => NOW_MS,
    ...options,
  });
  onTestFinished(() => made.close());
  return made;
}

describe('a message', () => {
  it('is signed over its time, its id and its body', async () => {
    verifies('R-P1.8');
    const { received, url } = await receiver((response) => response.end());
    const sent = await sender().send({ url, secretRef: 'env://HOOK' }, MESSAGE);
    expect(sent).toEqual({ kind: 'taken', status: 200 });
    const [{ headers, body } = { headers: {}, body: '' }] = received;
    const timestamp = String(NOW_MS / 1_000);
    const signed = `v1:${timestamp}:d1:${body}`;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-aicg-event': 'budget_soft',
      'x-aicg-delivery': 'd1',
      'x-aicg-timestamp': timestamp,
      'x-aicg-signature': `v1=${createHmac('sha256', SECRET).update(signed).digest('hex')}`,
    });
    expect(body).toBe(MESSAGE.body);
    expect(JSON.stringify(received)).not.toContain(SECRET);
  });

  it.each([
    [204, 'taken'],
    [500, 'later'],
    [503, 'later'],
    [429, 'later'],
    [408, 'later'],
    [400, 'refused'],
    [410, 'refused'],
    [302, 'refused'],
    [307, 'refused'],
  ])('that is answered by %i is %s', async (status, kind) => {
    const { received, url } = await receiver((response) => {
      response.writeHead(status, { location: url }).end();
    });
    expect(await sender().send({ url, secretRef: 'env://HOOK' }, MESSAGE)).toMatchObject({
      kind,
      status,
    });
    // A redirect is not followed.
    expect(received).toHaveLength(1);
  });

  it('waits only so long for an answer', async () => {
    const { url } = await receiver(() => undefined);
    const sent = await sender({ timeoutMs: 50 }).send({ url, secretRef: 'env://HOOK' }, MESSAGE);
    expect(sent).toEqual({ kind: 'later', status: null, why: 'It did not answer in time.' });
  });

  it('is sent later when the receiver is away, or the secret', async () => {
    const { url } = await receiver((response) => response.destroy());
    const hook = { url, secretRef: 'env://HOOK' };
    expect(await sender().send(hook, MESSAGE)).toMatchObject({ kind: 'later', status: null });
    for (const secretOf of [
      async () => 'short',
      async () =>
        ({ kind: 'failure', code: 'SUB_SECRET_MISSING', message: 'm', fix: 'f' }) as const,
    ]) {
      expect(await sender({ secretOf }).send(hook, MESSAGE)).toMatchObject({ kind: 'later' });
      expect(await sender({ secretOf }).check(hook)).toMatchObject({ code: 'SUB_GATEWAY_WEBHOOK' });
    }
  });

  it('does not go where a name leads into a private network, whatever else it leads to', async () => {
    const { received, port } = await receiver((response) => response.end());
    const rules = () => ({ allowedHosts: ['hooks.example.com'], allowPrivateAddresses: false });
    const hook = { url: `https://hooks.example.com:${port}/`, secretRef: 'env://HOOK' };
    for (const addresses of [
      ['127.0.0.1'],
      ['93.184.215.14', '127.0.0.1'],
      ['::1'],
      ['fd00::1'],
      [],
    ]) {
      const sent = await sender({ rules, resolve: async () => addresses }).send(hook, MESSAGE);
      expect(sent).toEqual({
        kind: 'refused',
        status: null,
        why: 'The name leads to a private network.',
      });
    }
    expect(received).toEqual([]);
  });
});

describe('the allowlist', () => {
  const rules = {
    allowedHosts: ['hooks.example.com', '*.acme.example'],
    allowPrivateAddresses: false,
  };

  it.each([
    'https://hooks.example.com/x',
    'https://hooks.example.com:8443/x',
    'https://HOOKS.example.com/x',
    'https://a.acme.example/',
    'https://a.b.acme.example/',
  ])('takes %s', (url) => {
    expect(urlProblem(url, rules)).toBeUndefined();
  });

  it.each([
    'http://hooks.example.com/x',
    'https://evil.example/hooks.example.com',
    'https://hooks.example.com.evil.example/',
    'https://evilacme.example/',
    'https://acme.example/',
    'https://hooks.example.com@evil.example/',
    'https://user:pass@hooks.example.com/',
    'https://127.0.0.1/',
    'file:///etc/passwd',
    'nonsense',
    '',
  ])('refuses %s', (url) => {
    expect(urlProblem(url, rules)).toBeDefined();
  });

  it('refuses private addresses even when it names them', () => {
    const allowedHosts = ['127.0.0.1', '[::1]', '169.254.169.254'];
    for (const url of [
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://169.254.169.254/',
    ]) {
      expect(urlProblem(url, { allowedHosts, allowPrivateAddresses: false }), url).toBeDefined();
      expect(urlProblem(url, { allowedHosts, allowPrivateAddresses: true }), url).toBeUndefined();
    }
  });

  it('refuses everything when it is empty', () => {
    verifies('R-P1.8');
    const empty = { allowedHosts: [], allowPrivateAddresses: true };
    expect(urlProblem('https://hooks.example.com/', empty)).toBeDefined();
  });
});

describe('an address', () => {
  it.each(['93.184.215.14', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:93.184.215.14',
    '64:ff9b::7f00:1',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '2002:7f00:1::',
    '2001:db8::1',
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

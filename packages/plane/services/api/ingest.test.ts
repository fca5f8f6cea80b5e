import { request } from 'node:http';
import { API_ENDPOINTS, API_ERROR, check } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { type ApiClient, AUTH, liveLedger } from './testing/live-ledger.ts';

const { path, body: LIMIT, answer } = API_ENDPOINTS.ingest;
const TYPE = { 'content-type': 'application/x-ndjson' };

interface Sent {
  readonly query?: string;
  readonly headers?: { readonly [name: string]: string | undefined };
}

function post(client: ApiClient, body: string, { query = 'producer=p&seq=0', headers }: Sent = {}) {
  return client.ask(`${path}?${query}`, { method: 'POST', headers: { ...TYPE, ...headers }, body });
}

async function taken(client: ApiClient, body: string, query?: string): Promise<unknown> {
  const { status, text } = await post(client, body, query === undefined ? {} : { query });
  expect([status, text]).toEqual([200, text]);
  const value: unknown = JSON.parse(text);
  expect(check(answer, value)).toEqual([]);
  return value;
}

function textOf(lines: readonly { readonly line: string }[]): string {
  return lines.map(({ line }) => `${line}\n`).join('');
}

async function opened() {
  const live = await liveLedger();
  return { live, client: await live.open() };
}

describe('events by HTTP', () => {
  it('are committed when the answer comes, and sent to streams', async () => {
    verifies('SL-11.4');
    const { live, client } = await opened();
    const stream = client.stream();
    await stream.opened;
    const shim = new Shim('p');
    const [first, second] = [shim.call('a'), shim.call('b')];
    expect(await taken(client, textOf(first))).toEqual({ accepted: 3, duplicates: 0, rejected: 0 });
    const calls = await client.json('/api/v1/calls');
    expect(calls).toMatchObject({ rows: [{ call_id: 'a', status: 'OK' }] });
    // The last line needs no end.
    expect(await taken(client, textOf(second).trimEnd(), 'producer=p&seq=3')).toMatchObject({
      accepted: 3,
    });
    expect((await stream.until(6)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    const rows = await live.ledger.store.events({ afterSeq: 0, limit: 9, producer: 'p' });
    expect(rows.map(({ producerSeq }) => producerSeq)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('are taken once, so that a sender without an answer may send them again', async () => {
    const { client } = await opened();
    const lines = textOf(new Shim('p').call('a'));
    await taken(client, lines);
    expect(await taken(client, lines)).toEqual({ accepted: 0, duplicates: 3, rejected: 0 });
    expect(await taken(client, lines, 'producer=q&seq=0')).toMatchObject({ accepted: 3 });
  });

  it('are set aside when they are none, and hold nothing up', async () => {
    const { live, client } = await opened();
    const [good] = new Shim('p').call('a');
    const body = `nonsense\n\n${good?.line ?? ''}\n{}\n`;
    expect(await taken(client, body)).toEqual({ accepted: 1, duplicates: 0, rejected: 3 });
    const [stored] = await live.ledger.store.events({ afterSeq: 0, limit: 1 });
    expect(stored?.producerSeq).toBe(2);
    expect(await taken(client, '')).toEqual({ accepted: 0, duplicates: 0, rejected: 0 });
    // The name under which the ledger speaks itself.
    const own = await taken(client, good?.line ?? '', 'producer=subluminal.ledger&seq=0');
    expect(own).toMatchObject({ accepted: 0, rejected: 1 });
  });
});

describe('a request', () => {
  it.each([
    ['without the token', { headers: { authorization: undefined } }, 401, 'SUB_API_TOKEN'],
    ['from another site', { headers: { origin: 'http://evil.example' } }, 403, 'SUB_API_HOST'],
    ['of a form', { headers: { 'content-type': 'text/plain' } }, 415, 'SUB_API_REQUEST'],
    ['without a type', { headers: { 'content-type': undefined } }, 415, 'SUB_API_REQUEST'],
    ['that is packed', { headers: { 'content-encoding': 'gzip' } }, 415, 'SUB_API_REQUEST'],
    ['without a producer', { query: 'seq=0' }, 400, 'SUB_API_REQUEST'],
    ['without a number', { query: 'producer=p' }, 400, 'SUB_API_REQUEST'],
    ['with a number that is none', { query: 'producer=p&seq=-1' }, 400, 'SUB_API_REQUEST'],
    ['with more than we know', { query: 'producer=p&seq=0&x=1' }, 400, 'SUB_API_REQUEST'],
  ] as const)('%s is refused, and nothing is taken', async (_, sent, status, code) => {
    const { live, client } = await opened();
    const refused = await post(client, textOf(new Shim('p').call('a')), sent);
    expect(refused.status).toBe(status);
    const error: unknown = JSON.parse(refused.text);
    expect(check(API_ERROR, error)).toEqual([]);
    expect(error).toMatchObject({ error: { code } });
    expect((await live.ledger.store.tip()).seq).toBe(0);
  });

  it.each(['GET', 'PUT', 'DELETE'])('by %s is refused', async (method) => {
    const { client } = await opened();
    const { status, headers } = await client.ask(`${path}?producer=p&seq=0`, { method });
    expect([status, headers.allow]).toEqual([405, 'POST']);
  });

  it('that is too large is refused, whether it says so or not', async () => {
    const { live, client } = await opened();
    const huge = 'x'.repeat(LIMIT.bytesMax + 1);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const refused = await post(client, huge, { headers });
      expect(refused.status).toBe(413);
    }
    const many = await post(client, '{}\n'.repeat(LIMIT.linesMax + 1));
    expect(many.status).toBe(413);
    expect(await taken(client, '{}\n'.repeat(LIMIT.linesMax))).toMatchObject({
      rejected: LIMIT.linesMax,
    });
    expect((await live.ledger.store.tip()).seq).toBe(0);
    expect(live.warnings).toEqual([]);
  });

  it('whose sender goes away in the middle leaves nothing behind', async () => {
    const { live, client } = await opened();
    const { hostname, port } = new URL(client.api.url);
    const headers = { ...TYPE, ...AUTH, host: client.host, 'content-length': '1000' };
    const sent = request({
      host: hostname,
      port,
      path: `${path}?producer=p&seq=0`,
      method: 'POST',
      headers,
    });
    const gone = new Promise((resolve) => sent.on('close', resolve));
    sent.on('error', () => undefined);
    sent.write(textOf(new Shim('p').call('a')).slice(0, 500), () => sent.destroy());
    await gone;
    expect(await client.json('/api/v1/health')).toMatchObject({ tip_seq: 0 });
    expect(live.warnings).toEqual([]);
  });

  it('says so when the ledger takes nothing', async () => {
    const { live, client } = await opened();
    await live.ledger.close();
    const refused = await post(client, textOf(new Shim('p').call('a')));
    expect(refused.status).toBe(500);
    expect(refused.text).toContain('SUB_LEDGER_IO');
  });
});

import { once } from 'node:events';
import { API_ENDPOINTS, check } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { Shim } from '../../stores/ledger/testing/events.ts';
import { HINT } from '../../stores/ledger/testing/random-events.ts';
import { AUTH, heavyCalls, liveLedger, TOKEN } from './testing/live-ledger.ts';

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

describe('a stream', () => {
  it('sends new events, in the shape of the contract', async () => {
    const live = await liveLedger();
    const shim = new Shim('a');
    await live.ingest(...shim.call('before'));
    const client = await live.open();
    const stream = client.stream();
    await stream.opened;
    const lines = [shim.runStart(), ...shim.call('c'), shim.runEnd(1)];
    await live.ingest(...lines);
    const received = await stream.until(5);
    expect(stream.seqs).toEqual(range(4, 8));
    expect(received.map(({ event }) => event)).toEqual(
      lines.map(({ line }) => JSON.parse(line) as unknown),
    );
    for (const message of received) expect(check(API_ENDPOINTS.stream.answer, message)).toEqual([]);
  });

  it('sends stored events first, from a seq on', async () => {
    const live = await liveLedger();
    const shim = new Shim('a');
    for (let n = 0; n < 400; n++) await live.ingest(...shim.call(`c${n}`));
    const client = await live.open();
    const [all, some, none] = [
      client.stream('?after=0'),
      client.stream('?after=1100'),
      client.stream('?after=1200'),
    ];
    await Promise.all([all.until(1_200), some.until(100), none.opened]);
    await live.ingest(...shim.call('new'));
    await Promise.all([all.until(1_203), some.until(103), none.until(3)]);
    expect(all.seqs).toEqual(range(1, 1_203));
    expect(some.seqs).toEqual(range(1_101, 1_203));
    expect(none.seqs).toEqual(range(1_201, 1_203));
  });

  it('leaves nothing out and sends nothing twice while events keep coming', async () => {
    const live = await liveLedger();
    const client = await live.open();
    const shim = new Shim('a');
    const streams: { readonly after: number; readonly stream: ReturnType<typeof client.stream> }[] =
      [];
    for (let n = 0; n < 200; n++) {
      if (n % 10 === 0) {
        const after = (n * 7) % (live.tip() + 1);
        streams.push({ after, stream: client.stream(`?after=${after}`) });
      }
      await live.ingest(
        ...shim.call(`c${n}-a`),
        ...shim.call(`c${n}-b`),
        shim.raw('{"type":"other"}'),
      );
      // Events of types that this version does not know have a seq too.
      if (n % 50 === 0) await live.ingest(shim.raw('{"type":"of a later version"}'));
    }
    const rows = await live.ledger.store.events({ afterSeq: 0, limit: 10_000 });
    const expected = rows.filter(({ type }) => type?.startsWith('tool_call_'));
    expect(rows.length).toBe(expected.length + 204);
    for (const { after, stream } of streams) {
      const seqs = expected.map(({ seq }) => seq).filter((seq) => seq > after);
      await stream.until(seqs.length);
      expect(stream.seqs).toEqual(seqs);
    }
  });

  it('sends an event once that it has read before the announcement', async () => {
    const live = await liveLedger();
    const client = await live.open();
    const shim = new Shim('a');
    await live.ingest(...shim.call('a'));
    await live.ledger.ingest(shim.call('b'));
    const stream = client.stream('?after=0');
    await stream.until(6);
    await live.announce();
    await live.ingest(...shim.call('c'));
    await stream.until(9);
    expect(stream.seqs).toEqual(range(1, 9));
  });

  it('sends events that are announced while it reads', async () => {
    const live = await liveLedger();
    const shim = new Shim('a');
    await live.ingest(...shim.call('a'));
    const { store } = live.ledger;
    const reading = gate();
    const released = gate();
    // A store that takes its time to answer.
    const reader = {
      ...store,
      events: async (request: Parameters<typeof store.events>[0]) => {
        const rows = await store.events(request);
        reading.open();
        await released.passed;
        return rows;
      },
    };
    const client = await live.open({ reader });
    const stream = client.stream('?after=0');
    await reading.passed;
    await live.ingest(...shim.call('b'));
    released.open();
    await stream.until(6);
    await live.ingest(...shim.call('c'));
    await stream.until(9);
    expect(stream.seqs).toEqual(range(1, 9));
  });

  it('asks whether its client is there', async () => {
    const live = await liveLedger();
    // Long enough for an answer on a busy machine: a client that gives none is cut off.
    const client = await live.open({ limits: { pingMs: 500 } });
    const stream = client.stream();
    await stream.opened;
    for (let n = 0; n < 4; n++) await once(stream.socket, 'ping');
    expect(stream.socket.readyState).toBe(stream.socket.OPEN);
  });
});

describe('the filters of a stream', () => {
  it.each([
    ['run=run-2', [7, 8, 9, 10, 11, 12]],
    ['agent=fixer-2', [7, 8, 9, 10, 11, 12]],
    ['server=git-1', [2, 3, 4, 5, 6]],
    ['tool=log-2', [8, 9, 10, 11, 12]],
    ['tool=log-2&server=git-1', []],
    ['decision=ALLOW', [3, 9]],
    ['decision=REFUSED', [6, 12]],
    ['decision=REJECT_WITH_HINT&run=run-1', [6]],
    ['decision=BLOCK', []],
  ])('let pass by %s, stored or new', async (query, expected) => {
    const live = await liveLedger();
    const client = await live.open();
    const lines = [1, 2].flatMap((n) => {
      const names = { run: `run-${n}`, agent: `fixer-${n}`, server: `git-${n}`, tool: `log-${n}` };
      const shim = new Shim(`s${n}`, names);
      const refused = { action: 'REJECT_WITH_HINT', rule_id: 'r', hint: HINT } as const;
      return [shim.runStart(), ...shim.call('ok'), shim.start('no'), shim.decision('no', refused)];
    });
    const fresh = client.stream(`?${query}`);
    await fresh.opened;
    await live.ingest(...lines);
    const stored = client.stream(`?after=0&${query}`);
    await stored.opened;
    // What both read of the store is one page, so this one is not done before the other.
    await client.stream('?after=0').until(lines.length);
    for (const stream of [fresh, stored]) {
      await stream.settled();
      expect(stream.seqs).toEqual(expected);
    }
  });

  it('find texts that the ledger could not store as they were', async () => {
    const live = await liveLedger();
    const client = await live.open();
    const shim = new Shim('a', { run: 'x\0y', tool: '\ud800' });
    const [run] = ['x\ufffdy'].map(encodeURIComponent);
    const fresh = client.stream(`?run=${run}&tool=%EF%BF%BD`);
    await fresh.opened;
    await live.ingest(...shim.call('c'));
    const stored = client.stream(`?after=0&run=${run}&tool=%EF%BF%BD`);
    for (const stream of [fresh, stored]) {
      await stream.until(3);
      expect(stream.seqs).toEqual([1, 2, 3]);
    }
  });

  it.each([
    'x=1',
    'after=-1',
    'after=',
    'after=1&after=2',
    'run=',
    'decision=allow',
    `token=${TOKEN}`,
    'run=%ff',
  ])('must be right: %s', async (query) => {
    const live = await liveLedger();
    const client = await live.open();
    expect((await client.stream(`?${query}`).ended).code).toBe(400);
  });
});

describe('a client of streams', () => {
  it('shows its token by the header, or by a protocol that is not sent back', async () => {
    const live = await liveLedger();
    const client = await live.open();
    const none = { headers: {} };
    const browser = client.stream('', { ...none, protocols: ['subluminal.v1', `bearer.${TOKEN}`] });
    await browser.opened;
    expect(browser.socket.protocol).toBe('subluminal.v1');
    const plain = client.stream();
    await plain.opened;
    expect(plain.socket.protocol).toBe('');
    const refused = [
      client.stream('', none),
      client.stream('', { ...none, protocols: ['subluminal.v1'] }),
      client.stream('', { ...none, protocols: [`bearer.${TOKEN}`] }),
      client.stream('', { ...none, protocols: ['subluminal.v1', `bearer.${TOKEN}x`] }),
      client.stream('', {
        headers: { authorization: 'Bearer no' },
        protocols: ['subluminal.v1', `bearer.${TOKEN}`],
      }),
    ];
    for (const stream of refused) expect((await stream.ended).code).toBe(401);
    const elsewhere = client.stream('', { headers: { ...AUTH, host: 'evil.example' } });
    expect((await elsewhere.ended).code).toBe(403);
    expect(live.listeners).toBe(2);
  });

  it('is closed when it sends a message', async () => {
    const live = await liveLedger();
    const client = await live.open();
    for (const [text, code] of [
      ['hello', 1008],
      ['x'.repeat(2_000), 1009],
    ] as const) {
      const stream = client.stream();
      await stream.opened;
      stream.socket.send(text);
      expect(await stream.ended).toMatchObject({ code });
    }
    await live.unheard();
  });
});

describe('a slow client', () => {
  it('gets everything at its own pace, from the store', async () => {
    const live = await liveLedger();
    const store = live.ledger.store;
    let reads = 0;
    const reader = {
      ...store,
      events: (request: Parameters<typeof store.events>[0]) => {
        reads += 1;
        return store.events(request);
      },
    };
    const client = await live.open({ reader, limits: { streamBytesMax: 65_536 } });
    const stream = client.stream();
    await stream.opened;
    stream.socket.pause();
    const shim = new Shim('a');
    for (let n = 0; n < 20; n++) await live.ingest(...heavyCalls(shim, 100));
    // 32 MB are committed, and no page is read for a client that has taken nothing.
    expect(reads).toBeLessThan(25);
    stream.socket.resume();
    await stream.until(2_000);
    expect(reads).toBeGreaterThan(20);
    await live.ingest(...shim.call('last'));
    await stream.until(2_003);
    expect(stream.seqs).toEqual(range(1, 2_003));
  });

  it('is asked to come back when the store cannot be read', async () => {
    const live = await liveLedger();
    const client = await live.open({ limits: { streamBytesMax: 65_536 } });
    const stream = client.stream();
    await stream.opened;
    stream.socket.pause();
    const shim = new Shim('a');
    for (let n = 0; n < 10; n++) await live.ingest(...heavyCalls(shim, 100));
    await live.ledger.close();
    stream.socket.resume();
    expect(await stream.ended).toEqual({
      code: 1013,
      reason: 'The ledger cannot be read; come back with `after`.',
    });
    // What it got has no gap, so it can go on from there.
    expect(stream.seqs).toEqual(range(1, stream.seqs.length));
    expect(live.warnings).toHaveLength(1);
    expect(live.listeners).toBe(0);
  });

  it('that takes nothing for too long is let go', async () => {
    const live = await liveLedger();
    const client = await live.open({ limits: { pingMs: 50 } });
    const stream = client.stream();
    await stream.opened;
    stream.socket.pause();
    await live.unheard();
    stream.socket.resume();
    expect(await stream.ended).toMatchObject({ code: 1013 });
  });
});

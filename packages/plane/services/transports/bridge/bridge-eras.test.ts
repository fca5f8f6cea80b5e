import { describe, expect, test, vi } from 'vitest';
import type { Incoming, Transport, TransportHandlers } from '../types.ts';
import { bridgeEras, type EraMemory } from './bridge-eras.ts';

interface Request {
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
}

/** A server that says what the test says. */
class ScriptedServer implements Transport {
  readonly lines: string[] = [];
  readonly calls: string[] = [];
  on: TransportHandlers | undefined;

  read(on: TransportHandlers): void {
    this.on = on;
  }
  hold(): void {}
  release(): void {}
  stop(): void {}
  write(message: Uint8Array): void {
    this.lines.push(Buffer.from(message).toString());
    this.calls.push('write');
  }
  writePart(): void {
    this.calls.push('part');
  }
  endParts(): void {
    this.calls.push('endParts');
  }
  abortParts(): void {
    this.calls.push('abortParts');
  }
  holds(): void {}
  end(): void {
    this.calls.push('end');
  }
  close(): Promise<boolean> {
    this.calls.push('close');
    return Promise.resolve(true);
  }
  /** The messages of one read. */
  say(...messages: readonly object[]): void {
    const incoming = messages.map((message) => ({
      kind: 'message' as const,
      bytes: Buffer.from(`${JSON.stringify(message)}\n`),
    }));
    this.on?.incoming(incoming);
  }
  /** The last message that was written to it. */
  last(): Request {
    return JSON.parse(this.lines.at(-1) ?? 'null') as Request;
  }
}

const INSPECT_BYTES_MAX = 1_000;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const DISCOVER = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: META } };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  },
};
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 's', version: '1' },
};
const DISCOVERED = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} };

function setUp(eras?: EraMemory) {
  const server = new ScriptedServer();
  const notes: string[] = [];
  const transport = bridgeEras(server, {
    inspectBytesMax: INSPECT_BYTES_MAX,
    note: (detail) => notes.push(detail),
    ...(eras && { eras }),
  });
  const got: Incoming[] = [];
  const ended = vi.fn<() => void>();
  transport.read({ incoming: (messages) => got.push(...messages), end: ended });
  const send = (message: unknown): void =>
    transport.write(Buffer.from(`${JSON.stringify(message)}\n`));
  const texts = () =>
    got.map((one) => ('bytes' in one ? Buffer.from(one.bytes).toString() : one.kind));
  return { server, transport, got, texts, ended, notes, send };
}

const error = (id: unknown, code: number) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: 'no' },
});
const result = (id: unknown, value: object) => ({ jsonrpc: '2.0', id, result: value });

/** A modern agent before a legacy server, after the handshake. */
async function bridged() {
  const scene = setUp();
  const { server, send } = scene;
  send(DISCOVER);
  await vi.waitFor(() => expect(server.lines).toHaveLength(1));
  server.say(error(1, -32601));
  server.say(result(server.last().id, INITIALIZED));
  await vi.waitFor(() => expect(scene.got).toHaveLength(1));
  scene.got.length = 0;
  return scene;
}

describe('the same era on both sides', () => {
  test('a legacy handshake passes, and so does all that follows, as the same bytes', () => {
    const { server, transport, got, send } = setUp();
    send(INITIALIZE);
    server.say(result(1, INITIALIZED));
    const bytes = Buffer.from('{ "jsonrpc":"2.0", "id":2, "method":"tools/list" }\n');
    transport.write(bytes);
    expect(server.lines.at(-1)).toBe(bytes.toString());
    const answer: Incoming = { kind: 'message', bytes: Buffer.from('whatever\n') };
    server.on?.incoming([answer]);
    expect(got.at(-1)).toBe(answer);
    transport.writePart(bytes);
    transport.endParts();
    transport.end();
    expect(server.calls.slice(-3)).toEqual(['part', 'endParts', 'end']);
  });

  test('a modern agent before a modern server', async () => {
    const { server, send, texts } = setUp();
    send(DISCOVER);
    send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } });
    await vi.waitFor(() => expect(server.lines).toEqual([`${JSON.stringify(DISCOVER)}\n`]));
    server.say(result(1, DISCOVERED));
    expect(texts()).toEqual([`${JSON.stringify(result(1, DISCOVERED))}\n`]);
    expect(server.last()).toMatchObject({ id: 2, method: 'tools/list' });
    server.say(result(2, {}));
    expect(texts()).toHaveLength(2);
  });

  test('a refusal of a legacy server reaches the agent, which may try again', async () => {
    const { server, send, texts } = setUp();
    send(INITIALIZE);
    server.say(error(1, -32602));
    await vi.waitFor(() => expect(server.last().method).toBe('server/discover'));
    server.say(error(server.last().id, -32601));
    expect(texts()).toEqual([`${JSON.stringify(error(1, -32602))}\n`]);
    send({ ...INITIALIZE, id: 2 });
    server.say(result(2, INITIALIZED));
    expect(texts()).toHaveLength(2);
  });
});

describe('different eras', () => {
  test('a legacy agent before a modern server', async () => {
    const { server, send, texts } = setUp();
    send(INITIALIZE);
    server.say(error(1, -32022), { jsonrpc: '2.0', method: 'notifications/message', params: {} });
    await vi.waitFor(() => expect(server.last().method).toBe('server/discover'));
    server.say(result(server.last().id, DISCOVERED));
    await vi.waitFor(() => expect(texts().join('')).toContain('"protocolVersion":"2025-11-25"'));
    send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect(server.last()).toMatchObject({ method: 'tools/list', params: { _meta: META } });
  });

  test('a batch of the server is translated message by message', async () => {
    const { server, send, texts } = await bridged();
    send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } });
    const first = server.last().id;
    send({ jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta: META } });
    server.say([result(first, { tools: [] }), result(server.last().id, { tools: [] })]);
    await vi.waitFor(() => expect(texts()).toHaveLength(2));
    expect(texts().map((text) => (JSON.parse(text) as Request).id)).toEqual([2, 3]);
  });

  test('a large answer is translated whole and delivered in parts', async () => {
    const { server, send, got } = await bridged();
    send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x', _meta: META } });
    const content = [{ type: 'text', text: 'x'.repeat(5_000) }];
    const bytes = Buffer.from(JSON.stringify(result(server.last().id, { content })));
    server.on?.incoming([
      { kind: 'head', bytes: bytes.subarray(0, INSPECT_BYTES_MAX) },
      { kind: 'piece', bytes: bytes.subarray(INSPECT_BYTES_MAX) },
      { kind: 'end', bytesTotal: bytes.length, isComplete: true },
    ]);
    await vi.waitFor(() => expect(got).toHaveLength(3));
    expect(got.map(({ kind }) => kind)).toEqual(['head', 'piece', 'end']);
    const whole = Buffer.concat(got.flatMap((one) => ('bytes' in one ? [one.bytes] : [])));
    expect(JSON.parse(whole.toString())).toMatchObject({ id: 2, result: { content } });
    expect(got[2]).toMatchObject({ bytesTotal: whole.length });
  });

  test('an answer beyond the cap fails its request', async () => {
    const { server, send, texts } = await bridged();
    send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x', _meta: META } });
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(server.last().id)},"result":{"content":[`;
    server.on?.incoming([
      { kind: 'head', bytes: Buffer.from(head) },
      { kind: 'too_large', bytesTotal: 10_000 },
    ]);
    await vi.waitFor(() => expect(texts()).toHaveLength(1));
    expect(JSON.parse(texts()[0] ?? '')).toMatchObject({ id: 2, error: { code: -32603 } });
  });

  test('a large message of the agent is translated whole; one that is broken off is dropped', async () => {
    const { server, transport } = await bridged();
    const params = { name: 'x', arguments: { a: 'x'.repeat(5_000) }, _meta: META };
    const bytes = Buffer.from(
      JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
    );
    transport.writePart(bytes.subarray(0, 100));
    transport.abortParts();
    const before = server.lines.length;
    transport.writePart(bytes.subarray(0, 100));
    transport.writePart(bytes.subarray(100));
    transport.endParts();
    expect(server.lines).toHaveLength(before + 1);
    expect(server.last()).toMatchObject({ params: { arguments: params.arguments } });
  });

  test('what can not be read goes to the session as it came', async () => {
    const { server, got } = await bridged();
    const noise: Incoming = { kind: 'message', bytes: Buffer.from('Listening…\n') };
    server.on?.incoming([noise]);
    await vi.waitFor(() => expect(got).toEqual([noise]));
  });

  test('the way to the server stays open until what waits has gone', async () => {
    const { server, send, transport } = setUp();
    send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } });
    transport.end();
    await vi.waitFor(() => expect(server.last().method).toBe('server/discover'));
    server.say(error(server.last().id, -32601));
    expect(server.calls).not.toContain('end');
    server.say(result(server.last().id, INITIALIZED));
    expect(server.last().method).toBe('tools/list');
    expect(server.calls.at(-1)).toBe('end');
  });

  test('it is closed when what waits has gone, or when time is up', async () => {
    const { server, send, transport } = setUp();
    send({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: META } });
    const closed = transport.close(60_000);
    await vi.waitFor(() => expect(server.last().method).toBe('server/discover'));
    server.say(error(server.last().id, -32601));
    server.say(result(server.last().id, INITIALIZED));
    await expect(closed).resolves.toBe(true);
    expect(server.last().method).toBe('tools/list');
    expect(server.calls.at(-1)).toBe('close');
    const silent = setUp();
    silent.send(DISCOVER);
    await expect(silent.transport.close(1)).resolves.toBe(true);
  });

  test('a server that ends while it is asked is reported', async () => {
    const { server, send, ended, notes } = setUp();
    send(DISCOVER);
    await vi.waitFor(() => expect(server.lines).toHaveLength(1));
    server.on?.end();
    expect(ended).toHaveBeenCalledOnce();
    expect(notes).toHaveLength(1);
  });

  test('a server that ended when it was asked gets the handshake the next time', async () => {
    const eras = { isLegacy: false };
    const first = setUp(eras);
    first.send(DISCOVER);
    await vi.waitFor(() => expect(first.server.lines).toHaveLength(1));
    first.server.on?.end();
    const second = setUp(eras);
    second.send(DISCOVER);
    await vi.waitFor(() => expect(second.server.last().method).toBe('initialize'));
    second.server.say(result(second.server.last().id, INITIALIZED));
    await vi.waitFor(() => expect(second.texts().join('')).toContain('supportedVersions'));
    expect(eras).toEqual({ isLegacy: true });
    const third = setUp(eras);
    third.send(DISCOVER);
    await vi.waitFor(() => expect(third.server.last().method).toBe('initialize'));
    third.server.say(error(third.server.last().id, -32022));
    expect(eras).toEqual({ isLegacy: false });
  });
});

test('a batch of what nobody can read comes to the governor once', async () => {
  const { server, got } = await bridged();
  server.on?.incoming([{ kind: 'message', bytes: Buffer.from(`[${'{},'.repeat(99)}{}]\n`) }]);
  await vi.waitFor(() => expect(got).not.toHaveLength(0));
  const bytes = got.flatMap((one) => ('bytes' in one ? [one.bytes.length] : []));
  expect(bytes.reduce((sum, length) => sum + length, 0)).toBeLessThan(1_000);
});

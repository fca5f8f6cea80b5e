import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failure, type ToolManifest } from '@subluminal/contracts';
import { guardedLookup, isPublicAddress } from '@subluminal/plane/os/public-address';
import { openUpstream, type Upstream } from '@subluminal/plane/upstream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { sandboxUpstream } from './host-fetch.ts';
import { runSandboxed } from './run-sandboxed.ts';
import { readToolManifest } from './sandbox-server.ts';
import type { SandboxOutcome, SandboxPorts, SandboxProgram } from './types.ts';
import * as wasm from './wasm-modules.test-support.ts';

const SECRET = 'k9-Vq2-7hTzP-41xw';
const WORKER = fileURLToPath(new URL('./sandbox-worker.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
let server: Server;
let port: number;
let ca: string;
const seen: {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}[] = [];

beforeAll(async () => {
  const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')];
  const names = 'subjectAltName=DNS:api.example.com,DNS:inside.example.com,DNS:rebound.example.com';
  const kind = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
  ];
  execFileSync('openssl', ['req', '-x509', ...kind, '-subj', '/CN=x', '-addext', names, ...files], {
    stdio: 'pipe',
  });
  ca = readFileSync(join(folder, 'cert'), 'utf8');
  server = createServer(
    { key: readFileSync(join(folder, 'key')), cert: ca },
    (request, response) => {
      void serve(request, response);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  mkdirSync(join(folder, 'data'));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'data', 'prices.csv'), 'tea,3');
  writeFileSync(join(folder, 'home', 'config.toml'), 'private');
  writeFileSync(join(folder, 'other.txt'), 'other');
  symlinkSync(join(folder, 'other.txt'), join(folder, 'data', 'link'));
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(folder, { recursive: true, force: true });
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { authorization } = request.headers;
  const path = request.url ?? '';
  seen.push({ path, authorization, body: Buffer.concat(parts).toString() });
  if (path === '/v1/away')
    response.writeHead(302, { location: 'https://inside.example.com/v1/x' }).end();
  else if (path === '/v1/echo')
    response.end(`you sent ${authorization} and ${Buffer.from(SECRET).toString('base64')}`);
  else if (path === '/v1/large') response.end('x'.repeat(2_000_000));
  else response.end('{"ok":true}');
}

/** The real way out, but to the port of the test's server; `api.example.com` is taken for public. */
function upstream(strict: boolean): Upstream {
  let lookups = 0;
  const resolve = (host: string) =>
    Promise.resolve(
      host.startsWith('rebound') && lookups++ === 0
        ? ['93.184.215.14', '127.0.0.1']
        : ['127.0.0.1'],
    );
  const isAllowed = (address: string, host: string) =>
    isPublicAddress(address) || host === 'api.example.com';
  const way = strict
    ? sandboxUpstream({ tls: { ca } }, resolve)
    : openUpstream({ tls: { ca }, lookup: guardedLookup(isAllowed, resolve) });
  return {
    ...way,
    call: (call) =>
      way.call({ ...call, url: call.url.replace('.example.com', `.example.com:${port}`) }),
  };
}

const HOSTS = ['api', 'inside', 'rebound'].map((name) => ({
  host: `${name}.example.com`,
  paths: ['/v1/'],
  methods: ['GET', 'POST'],
}));

function manifest(changes: object = {}): ToolManifest {
  const made = readToolManifest(
    JSON.stringify({
      name: 'tool',
      description: 'A tool.',
      input: { type: 'object' },
      hosts: HOSTS,
      files: [`${folder}/data/`, `${folder}/home/config.toml`],
      secrets: [
        { ref: 'sub://api', host: 'api.example.com', header: 'Authorization', prefix: 'Bearer ' },
      ],
      limits: { time_ms: 30_000, memory_mb: 16 },
      ...changes,
    }),
  );
  if (typeof made === 'string') throw new Error(made);
  return made;
}

interface How {
  readonly manifest?: ToolManifest;
  readonly input?: { readonly [name: string]: string };
  readonly strict?: boolean;
  readonly ports?: Partial<SandboxPorts>;
  readonly signal?: AbortSignal;
}

async function run(program: SandboxProgram, how: How = {}): Promise<SandboxOutcome> {
  const way = upstream(how.strict ?? false);
  try {
    return await runSandboxed({
      program,
      manifest: how.manifest ?? manifest(),
      input: how.input ?? {},
      signal: how.signal ?? new AbortController().signal,
      ports: {
        workerFile: WORKER,
        upstream: way,
        secret: () => Promise.resolve(SECRET),
        protectedFolders: [join(folder, 'home')],
        ...how.ports,
      },
    });
  } finally {
    await way.close();
  }
}
const js = (body: string, how?: How) =>
  run({ kind: 'js', code: `export default async function (input, host) { ${body} }` }, how);
/** What each of these gives or fails with, in one thread. */
async function each(expressions: readonly string[], how: How = {}): Promise<readonly string[]> {
  const tries = expressions.map(
    (one) =>
      `try { told.push("done " + JSON.stringify(${one})); } catch (e) { told.push(String(e)); }`,
  );
  const limits = { requests: 50, time_ms: 10_000, memory_mb: 16 };
  const outcome = await js(`const told = []; ${tries.join('\n')}; return told;`, {
    manifest: manifest({ limits }),
    ...how,
  });
  return outcome.kind === 'done' && Array.isArray(outcome.value) ? outcome.value.map(String) : [];
}
async function expectFailure(work: Promise<SandboxOutcome>, why: RegExp): Promise<void> {
  const outcome = await work;
  expect(outcome).toMatchObject({ kind: 'failed' });
  expect(outcome.kind === 'failed' ? outcome.why : '').toMatch(why);
}
async function expectValue(work: Promise<SandboxOutcome>, value: unknown): Promise<void> {
  expect(await work).toMatchObject({ kind: 'done', value });
}

test('a tool gets its input and gives a result and a log', async () => {
  verifies('ST-5.3');
  const outcome = await js(
    'host.log("sum of", input); return { twice: input.text + input.text };',
    {
      input: { text: 'ab' },
    },
  );
  expect(outcome).toEqual({
    kind: 'done',
    value: { twice: 'abab' },
    log: 'sum of {"text":"ab"}\n',
  });
});

test('a tool that gives nothing gives null, and an error is said', async () => {
  await expectValue(js(''), null);
  await expectFailure(js('throw new Error("no such city")'), /Error: no such city/);
  await expectFailure(run({ kind: 'js', code: 'export const x = 1;' }), /no default export/);
  await expectFailure(run({ kind: 'js', code: 'export default (' }), /SyntaxError/);
});

describe('a script cannot hold up, fill up or leave its sandbox', () => {
  verifies('ST-5.3');
  const SHORT = { manifest: manifest({ limits: { time_ms: 100, memory_mb: 8 } }) };

  test.each([
    ['an endless loop', 'for (;;) {}'],
    ['an endless loop that catches everything', 'for (;;) { try { for (;;) {} } catch {} }'],
    ['a storm of promises', 'const f = () => Promise.resolve().then(f); await f();'],
    [
      'promises that breed',
      'const f = () => { Promise.resolve().then(f); Promise.resolve().then(f); }; f(); await new Promise(() => {});',
    ],
    ['a regular expression that backtracks', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['a getter that never ends', 'return { get x() { for (;;) {} } };'],
    ['a proxy that never ends', 'return new Proxy({}, { ownKeys() { for (;;) {} } });'],
    ['a sort that never ends', '[1, 2].sort(() => { for (;;) {} })'],
    ['a toString that never ends', 'host.log([{ toString() { for (;;) {} } }] + "")'],
  ])('%s ends with its time', async (_name, body) => {
    await expectFailure(js(body, SHORT), /longer than it may|interrupted|memory/);
  });

  test.each([
    ['arrays', 'const all = []; for (;;) all.push(new Uint8Array(100000));'],
    ['a string', 'let s = "x"; for (;;) s += s;'],
    ['a buffer', 'return new ArrayBuffer(2 ** 30).byteLength;'],
    ['a repeated string', 'return "x".repeat(2 ** 28).length;'],
    ['a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, String(i));'],
  ])('%s of any size end at the limit of memory', async (_name, body) => {
    await expectFailure(
      js(body, { manifest: manifest({ limits: { time_ms: 10_000, memory_mb: 4 } }) }),
      /memory|string/,
    );
  });

  test('many small pieces end at the limit of memory as one large one does', async () => {
    const body =
      'const all = []; try { for (;;) all.push(new Uint8Array(100_000)); } catch { const { length } = all; all.length = 0; return length; }';
    const outcome = await js(body, { manifest: manifest({ limits: { memory_mb: 16 } }) });
    const count = outcome.kind === 'done' ? Number(outcome.value) : Number.NaN;
    expect(count).toBeGreaterThan(50);
    expect(count).toBeLessThan(170);
  });

  test('deep recursion ends', async () => {
    await expectFailure(js('const f = () => f() + 1; return f();'), /stack|recursion|broke/i);
    await expectFailure(
      js('return JSON.parse("[".repeat(200000) + "]".repeat(200000));'),
      /stack|recursion|broke|memory/i,
    );
  });

  test('nothing of Node is there', async () => {
    const names = [
      'process',
      'require',
      'fetch',
      'WebAssembly',
      'setTimeout',
      'Buffer',
      'module',
      'std',
      'os',
    ];
    const told = await each(names.map((name) => `typeof ${name}`));
    expect(told).toEqual(names.map(() => 'done "undefined"'));
  });

  test('no way leads to what is outside', async () => {
    const ways = [
      'host.fetch.constructor("return process")().pid',
      'host.log.constructor.constructor("return this.process.env")().PATH',
      '(0, eval)("process.env")',
      'new Function("return process")().pid',
      'await Object.getPrototypeOf(async function () {}).constructor("return process")()',
      'await import("node:fs")',
      'host.log.call.call(function () { return this.process.pid; })',
      'await host.fetch({ url: "x" }).catch((e) => e.constructor.constructor("return process")().pid)',
      'await host.readFile("x").catch((e) => Object.getPrototypeOf(e).constructor.constructor("return process")())',
    ];
    const told = await each(ways);
    expect(told).toHaveLength(ways.length);
    expect(told.filter((one) => one.startsWith('done'))).toEqual([]);
  });

  test('imports of any module are refused', async () => {
    for (const name of ['node:fs', 'fs', './host.js', 'file:///etc/passwd']) {
      const code = `import * as all from ${JSON.stringify(name)}; export default () => Object.keys(all);`;
      await expectFailure(run({ kind: 'js', code }), /module|import/i);
    }
  });

  test('a polluted prototype stays inside', async () => {
    const body = `Object.prototype.polluted = 1; Array.prototype.map = () => ["x"]; JSON.stringify = () => "{}";
      Promise.prototype.then = undefined; return { "__proto__": { polluted: 2 }, constructor: { prototype: { polluted: 3 } } };`;
    await js(body);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect([1].map((one) => one)).toEqual([1]);
    await expectValue(js('return ({}).polluted ?? "clean"'), 'clean');
  });

  test('a result that is too large is none, and a log is cut', async () => {
    const small = manifest({ limits: { output_kb: 1 } });
    await expectFailure(js('return "x".repeat(5000)', { manifest: small }), /too large/);
    const outcome = await js('for (let i = 0; i < 100000; i++) host.log("y".repeat(100));', {
      manifest: small,
    });
    expect(outcome.log.length).toBeLessThanOrEqual(1024);
  });

  test('a promise that nobody keeps ends at once', async () => {
    await expectFailure(
      js('await new Promise(() => {})', { manifest: manifest({ limits: { time_ms: 60_000 } }) }),
      /never comes/,
    );
  });

  test('a use that is cancelled ends', async () => {
    const abort = new AbortController();
    const asked = js('for (;;) {}', {
      signal: abort.signal,
      manifest: manifest({ limits: { time_ms: 60_000 } }),
    });
    setTimeout(() => abort.abort(), 50);
    await expectFailure(asked, /cancelled/);
  });

  test('this thread goes on while a tool holds its own', async () => {
    const held = js('for (;;) {}', SHORT);
    let turns = 0;
    while (turns < 100) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      turns++;
    }
    await held;
    expect(turns).toBe(100);
  });
});

describe('a module of WebAssembly', () => {
  const module = (parts?: Parameters<typeof wasm.wasmModule>[0], how?: How) =>
    run({ kind: 'wasm', bytes: wasm.wasmModule(parts) }, how);

  test('gets its input and gives its output', async () => {
    await expectValue(module({}, { input: { a: 'b' } }), { a: 'b' });
  });

  test('asks the host as a script does', async () => {
    const path = `${folder}/data/prices.csv`;
    const parts = { run: wasm.ASK, imports: wasm.ASK_IMPORTS };
    await expectValue(module(parts, { input: { kind: 'file', path } }), { text: 'tea,3' });
    await expectValue(module(parts, { input: { kind: 'file', path: '/etc/passwd' } }), {
      error: 'The file is not declared.',
    });
  });

  test('that never ends is ended', async () => {
    const short = manifest({ limits: { time_ms: 100 } });
    await expectFailure(module({ run: wasm.LOOP }, { manifest: short }), /longer than it may/);
  });

  test('grows its memory no further than its limit', async () => {
    await expectValue(module({ run: wasm.GROW }, { input: { a: 'b' } }), { a: 'b' });
  });

  test('that points outside of its memory gets and gives nothing', async () => {
    await expectFailure(module({ run: wasm.OUTSIDE }), /failed/);
  });

  test.each([
    [
      'imports WASI',
      { imports: [wasm.functionImport('wasi_snapshot_preview1', 'fd_write', 2)] },
      /imports wasi_snapshot_preview1\.fd_write/,
    ],
    [
      'imports another function of the host',
      { imports: [wasm.functionImport('host', 'exec', 2)] },
      /imports host\.exec/,
    ],
    ['imports no memory', { memory: [] }, /must import env\.memory/],
    ['brings a memory of its own', { sections: wasm.OWN_MEMORY }, /memory of its own/],
    ['begins with more memory than its limit', { memory: wasm.largeMemory }, /more memory/],
    ['shares its memory', { memory: wasm.sharedMemory }, /of a kind/],
    ['has a table without a limit', { sections: wasm.WIDE_TABLE }, /table/],
  ] as const)('that %s is not run', async (_name, parts, why) => {
    await expectFailure(module(parts), why);
  });

  test.each([[[]], [[0, 1, 2, 3]], [[...wasm.wasmModule()].slice(0, 30)]])(
    'of bytes that are none is not run',
    async (bytes) => {
      await expectFailure(run({ kind: 'wasm', bytes: Uint8Array.from(bytes) }), /module|memory/i);
    },
  );
});

describe('requests', () => {
  const get = (url: string, how?: How) =>
    js(`return await host.fetch({ url: ${JSON.stringify(url)} });`, how);

  test('go to what is declared, with the secret that the tool never sees', async () => {
    await expectValue(get('https://api.example.com/v1/prices?x=1'), {
      status: 200,
      body: '{"ok":true}',
    });
    expect(seen.at(-1)).toMatchObject({
      path: '/v1/prices?x=1',
      authorization: `Bearer ${SECRET}`,
    });
  });

  test('answer without the secret, however the server repeats it', async () => {
    const outcome = await get('https://api.example.com/v1/echo');
    const text = JSON.stringify(outcome);
    expect(outcome.kind).toBe('done');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 16));
  });

  test('to anything else are refused', async () => {
    const cases: readonly (readonly [url: string, why: RegExp])[] = [
      ['https://example.net/v1/x', /host is not declared/],
      ['https://api.example.com.example.net/v1/x', /host is not declared/],
      ['https://127.0.0.1/v1/x', /host is not declared/],
      ['https://[::1]/v1/x', /host is not declared/],
      ['https://0x7f.1/v1/x', /host is not declared/],
      ['https://api.example.com./v1/x', /host is not declared/],
      ['http://api.example.com/v1/x', /Only https/],
      ['file:///etc/passwd', /Only https/],
      ['https://api.example.com:8443/v1/x', /port/],
      ['https://a:b@api.example.com/v1/x', /user/],
      ['https://api.example.com/admin', /path is not declared/],
      ['https://api.example.com/v1/../admin', /path is not declared/],
      ['https://api.example.com/v1/%2e%2e/admin', /path is not declared/],
      ['https://api.example.com/v1/..%2fadmin', /path is not declared/],
      ['https://api.example.com/v1\\..\\admin', /path is not declared/],
      ['no url', /no URL/],
    ];
    const count = seen.length;
    const told = await each(
      cases.map(([url]) => `await host.fetch({ url: ${JSON.stringify(url)} })`),
    );
    for (const [index, [url, why]] of cases.entries()) expect(told[index], url).toMatch(why);
    expect(seen).toHaveLength(count);
  });

  test('by a method that is not declared are refused', async () => {
    await expectFailure(
      js('await host.fetch({ url: "https://api.example.com/v1/x", method: "DELETE" })'),
      /method/,
    );
  });

  test('with headers that are the business of the host are refused', async () => {
    const names = [
      'Authorization',
      'Host',
      'Cookie',
      'Content-Length',
      'X-Forwarded-For',
      'Proxy-Authorization',
      'a b',
      'x\r\ny',
    ];
    const told = await each(
      names.map((name) => {
        const headers = JSON.stringify({ [name]: 'x' });
        return `await host.fetch({ url: "https://api.example.com/v1/x", headers: ${headers} })`;
      }),
    );
    expect(told).toEqual(names.map(() => 'Error: A header is not allowed.'));
  });

  test('are not sent on where an answer points: the tool must ask, and is refused', async () => {
    await expectValue(get('https://api.example.com/v1/away'), {
      status: 302,
      headers: { location: 'https://inside.example.com/v1/x' },
    });
    const count = seen.length;
    await expectFailure(get('https://inside.example.com/v1/x'), /Error/);
    expect(seen).toHaveLength(count);
  });

  test.each(['api', 'inside', 'rebound'])(
    'to %s.example.com, which leads inside, are refused by the real way out',
    async (name) => {
      const count = seen.length;
      await expectFailure(get(`https://${name}.example.com/v1/x`, { strict: true }), /Error/);
      expect(seen).toHaveLength(count);
    },
  );

  test('are counted, and their answers bounded', async () => {
    const few = manifest({ limits: { requests: 2 } });
    const body =
      'for (let i = 0; i < 5; i++) await host.fetch({ url: "https://api.example.com/v1/n" });';
    const count = seen.length;
    await expectFailure(js(body, { manifest: few }), /too many requests/);
    expect(seen.length - count).toBe(2);
    await expectFailure(get('https://api.example.com/v1/large'), /larger than/);
  });

  test('with a secret in any part are refused', async () => {
    const encoded = Buffer.from(SECRET).toString('base64');
    const parts = [
      { url: `https://api.example.com/v1/x?k=${SECRET}` },
      { url: `https://api.example.com/v1/x?k=${encoded}` },
      {
        url: `https://api.example.com/v1/x?k=${[...SECRET].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')}`,
      },
      { url: 'https://api.example.com/v1/x', method: 'POST', body: SECRET },
      { url: 'https://api.example.com/v1/x', headers: { 'X-Key': SECRET } },
      {
        url: 'https://api.example.com/v1/x',
        method: 'POST',
        body: ['AKIA', 'Z7KQ3MXW5TNVB2RD'].join(''),
      },
    ];
    const count = seen.length;
    const told = await each(parts.map((part) => `await host.fetch(${JSON.stringify(part)})`));
    expect(told).toEqual(parts.map(() => 'Error: The request holds a secret.'));
    expect(seen).toHaveLength(count);
  });

  test('a secret that comes to light is in no log, result or error', async () => {
    const outcome = await js(`host.log("${SECRET}"); return ["${SECRET}"];`);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    const failed = await js(`throw new Error("${SECRET}");`);
    expect(failed.kind).toBe('failed');
    expect(JSON.stringify(failed)).not.toContain(SECRET);
  });

  test('a tool whose secret cannot be had is not run', async () => {
    const secret = () => Promise.resolve(failure('SUB_SECRET_MISSING', 'x', 'y'));
    await expectFailure(js('return 1', { ports: { secret } }), /cannot be had/);
  });
});

describe('files', () => {
  const read = (path: string) => js(`return await host.readFile(${JSON.stringify(path)});`);

  test('that are declared are read', async () => {
    await expectValue(read(`${folder}/data/prices.csv`), 'tea,3');
  });

  test('all others are refused', async () => {
    const cases: readonly (readonly [path: string, why: RegExp])[] = [
      [`${folder}/other.txt`, /not declared/],
      [`${folder}/data/../other.txt`, /no absolute path/],
      ['data/prices.csv', /no absolute path/],
      [`${folder}/data/link`, /not declared/],
      [`${folder}/data/`, /not declared/],
      [`${folder}/home/config.toml`, /protected/],
      [`${folder}/data/a\0b`, /no absolute path/],
      ['/etc/passwd', /not declared/],
      ['/proc/self/environ', /not declared/],
    ];
    const told = await each(cases.map(([path]) => `await host.readFile(${JSON.stringify(path)})`));
    for (const [index, [path, why]] of cases.entries()) expect(told[index], path).toMatch(why);
  });
});

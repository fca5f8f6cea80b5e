import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasPages, pagesIn, readPages } from './pages.ts';

const SCRIPT = `console.log(${'1 + '.repeat(1_000)}1);\n`;
const FILES = {
  'index.html': '<!doctype html><title>page</title>',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/main-Ab3_-9xZ.js': SCRIPT,
  'assets/plain.css': 'body{}',
  'notes.md': 'not served',
};

function folderWith(files: { readonly [path: string]: string } = FILES): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-pages-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks a server of these pages. */
async function served(folder = folderWith()) {
  const pages = pagesIn(folder);
  const server = createServer((asked, response) => void pages.answer(asked, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (path: string, { method = 'GET', headers = {} } = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request({ port, path, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      asked.on('error', reject).end();
    });
}

describe('the pages', () => {
  it('are answered with their types, and a name with a hash is kept for good', async () => {
    const ask = await served();
    const script = await ask('/assets/main-Ab3_-9xZ.js?x=1');
    expect(script.body.toString()).toBe(SCRIPT);
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect((await ask('/icon.svg')).headers['content-type']).toMatch(/^image\/svg/);
    const style = await ask('/assets/plain.css');
    expect(style.headers).toMatchObject({ 'cache-control': 'no-cache' });
  });

  it('answer the addresses of the app with index.html, also names with dots in them', async () => {
    const ask = await served();
    for (const path of ['/', '/live', '/login', '/runs/run.1', '/servers/a.b.c', '/policy?q=a.b']) {
      const { status, headers, body } = await ask(path);
      expect([path, status, body.toString()]).toEqual([path, 200, FILES['index.html']]);
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'content-type': 'text/html; charset=utf-8',
      });
    }
  });

  it('are these files alone, whatever the path looks like', async () => {
    const folder = folderWith({ ...FILES, 'secret.txt': 'x' });
    rmSync(join(folder, 'secret.txt'));
    symlinkSync('/etc/hostname', join(folder, 'secret.txt'));
    const ask = await served(folder);
    for (const path of [
      '/favicon.ico',
      '/notes.md',
      '/secret.txt',
      '/assets/gone-12345678.js',
      '/assets',
      '/api/v1/nothing',
      '/api',
      '/../../etc/passwd',
      '/.git/config',
      '//index.html',
    ]) {
      const { status, headers } = await ask(path);
      expect([path, status]).toEqual([path, path === '//index.html' ? 200 : 404]);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("worker-src 'none'");
    }
  });

  it('let nothing in that is not their own, on every answer', async () => {
    const ask = await served();
    for (const path of ['/', '/assets/plain.css', '/gone.js']) {
      const { headers } = await ask(path);
      expect(headers).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers['content-security-policy']).toMatch(
        /script-src 'self';.*trusted-types 'none'/,
      );
      expect(headers['content-security-policy']).not.toMatch(/unsafe|http|\*/);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('come compressed where that is asked for, and not again while they are the same', async () => {
    const ask = await served();
    const path = '/assets/main-Ab3_-9xZ.js';
    const zipped = await ask(path, { headers: { 'accept-encoding': 'br, gzip' } });
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(zipped.body).toString()).toBe(SCRIPT);
    for (const accepted of ['br', 'gzip;q=0', 'gzip; q=0.0, br', 'xgzip']) {
      const { headers } = await ask(path, { headers: { 'accept-encoding': accepted } });
      expect([accepted, headers['content-encoding']]).toEqual([accepted, undefined]);
    }
    // Too small to be worth it.
    const small = await ask('/', { headers: { 'accept-encoding': 'gzip' } });
    expect(small.headers['content-encoding']).toBeUndefined();
    const etag = small.headers.etag ?? '';
    const again = await ask('/', { headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await ask('/', { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  it('take GET and HEAD only', async () => {
    const ask = await served();
    const head = await ask('/', { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(FILES['index.html'].length));
    const { status, headers } = await ask('/', { method: 'POST' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('stay what they were when the files change under a server', async () => {
    const folder = folderWith();
    const ask = await served(folder);
    await ask('/');
    writeFileSync(join(folder, 'index.html'), 'another');
    expect((await ask('/')).body.toString()).toBe(FILES['index.html']);
  });

  it('say what is wrong where there are none', async () => {
    const folder = folderWith({ 'other.html': 'x' });
    expect(hasPages(folder)).toBe(false);
    expect(hasPages(folderWith())).toBe(true);
    expect(readPages(folder)).toMatchObject({ code: 'SUB_UI_PAGES' });
    expect(readPages(join(folder, 'gone'))).toMatchObject({ code: 'SUB_UI_PAGES' });
    const ask = await served(folder);
    const { status, body } = await ask('/');
    expect(status).toBe(503);
    expect(body.toString()).toContain('npm run build');
  });
});

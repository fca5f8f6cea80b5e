import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import type { HookReply } from '@subluminal/core/hooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type HookListenerOptions, openHookListener } from './hook-listener.ts';

const REPLY: HookReply = { stdout: '{"a":1}', stderr: '', exitCode: 0 };

const HEADER = '{"v":1,"client":"codex","ppid":1}\n{}';

/** All that comes back. */
function onSocket(socketPath: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    let got = '';
    socket.on('data', (chunk: Buffer) => (got += chunk.toString()));
    socket.on('error', () => {});
    socket.once('close', () => resolve(got));
    socket.once('end', () => socket.destroy());
    socket.end(text);
  });
}

async function listen(handle: HookListenerOptions['handle'] = () => Promise.resolve(REPLY)) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-listen-'));
  const socketPath = join(folder, 'h.sock');
  const options = { socketPath, bodyBytesMax: 100_000, takesPosts: true, handle };
  const listener = await openHookListener(options);
  if (isFailure(listener)) throw new Error(listener.message);
  onTestFinished(async () => {
    await listener.close();
    rmSync(folder, { recursive: true });
  });
  const { http: { url, token } = { url: '', token: '' } } = listener;
  const authorization = `Bearer ${token}`;
  const post = (body: string, headers: { [name: string]: string } = {}, client = 'claude-code') =>
    fetch(`${url}/${client}`, {
      method: 'POST',
      body,
      headers: { authorization, ...headers },
    });
  const ask = (text = HEADER): Promise<string> => onSocket(socketPath, text);
  return { ...listener, url, token, post, ask };
}

/** Waits until it is given up. */
function waiting() {
  const seen = { heard: () => {}, given: (_how: string) => {} };
  const heard = new Promise<void>((resolve) => (seen.heard = resolve));
  const given = new Promise<string>((resolve) => (seen.given = resolve));
  const handle: HookListenerOptions['handle'] = (_hook, signal) => {
    seen.heard();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        seen.given('given up');
        resolve(REPLY);
      });
    });
  };
  return { handle, heard, given };
}

describe('over HTTP', () => {
  test('a hook with the token is answered', async () => {
    const told: string[] = [];
    const { post } = await listen(({ client, body }) => {
      told.push(client, body);
      return Promise.resolve(REPLY);
    });
    const response = await post('{"b":2}');
    expect([response.status, await response.text()]).toEqual([200, '{"a":1}']);
    expect(told).toEqual(['claude-code', '{"b":2}']);
  });

  test('nothing to say is an empty object, and a refusal is never empty', async () => {
    const pass = await listen(() => Promise.resolve({ stdout: '', stderr: '', exitCode: 0 }));
    expect(await (await pass.post('{}')).text()).toBe('{}');
    const no = await listen(() => Promise.resolve({ stdout: '', stderr: 'no', exitCode: 2 }));
    const refused = await no.post('{}');
    expect([refused.status, await refused.text()]).toEqual([500, 'no']);
    const broken = await listen(() => Promise.reject(new Error('x')));
    expect((await broken.post('{}')).status).toBe(500);
  });

  test.each<[string, { [name: string]: string }, number]>([
    ['without the token', { authorization: '' }, 401],
    ['with another token', { authorization: `Bearer ${'x'.repeat(43)}` }, 401],
    ['for a page of a browser', { origin: 'https://evil.example' }, 403],
  ])('nobody comes in %s', async (_, headers, status) => {
    const { post } = await listen(() => Promise.reject(new Error('it was asked')));
    expect((await post('{}', headers)).status).toBe(status);
  });

  test('only hooks are taken, and no endless ones', async () => {
    const { post, url, token } = await listen();
    expect((await post('{}', {}, '../x')).status).toBe(404);
    const got = await fetch(`${url}/codex`, { headers: { authorization: `Bearer ${token}` } });
    expect(got.status).toBe(404);
    expect((await post('x'.repeat(200_000))).status).toBe(413);
  });

  test('a hook that goes away gives its call up', async () => {
    const { handle, heard, given } = waiting();
    const { url, token } = await listen(handle);
    const left = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const asked = fetch(`${url}/codex`, {
      method: 'POST',
      body: '{}',
      headers,
      signal: left.signal,
    });
    await heard;
    left.abort();
    await expect(asked).rejects.toThrow('aborted');
    expect(await given).toBe('given up');
  });
});

describe('on the socket', () => {
  test('a hook is answered, and only its owner gets in', async () => {
    const { ask, socketPath } = await listen();
    expect(JSON.parse(await ask())).toEqual(REPLY);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  test('a hook that is killed gives its call up', async () => {
    const { handle, heard, given } = waiting();
    const { socketPath } = await listen(handle);
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    socket.end(HEADER);
    await heard;
    socket.destroy();
    expect(await given).toBe('given up');
  });

  test.each<[string, string]>([
    ['no header', '{}'],
    ['another version', '{"v":2,"client":"codex"}\n{}'],
    ['no client', '{"v":1}\n{}'],
    ['a client that is a path', '{"v":1,"client":"../x"}\n{}'],
    ['too much', `{"v":1,"client":"codex"}\n${'x'.repeat(200_000)}`],
  ])('what is not understood gets no answer: %s', async (_, text) => {
    const { ask } = await listen(() => Promise.reject(new Error('it was asked')));
    expect(await ask(text)).toBe('\n');
  });

  test('a long answer comes whole to a client that takes its time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const long = { ...REPLY, stdout: 'x'.repeat(8 * 1_048_576) };
    const { socketPath } = await listen(() => Promise.resolve(long));
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    socket.end(HEADER);
    await once(socket, 'readable');
    vi.advanceTimersByTime(10_000);
    let got = '';
    for await (const chunk of socket.setEncoding('utf8')) got += String(chunk);
    expect(JSON.parse(got)).toEqual(long);
  });

  test('what could not be answered gets no answer', async () => {
    const { ask } = await listen(() => Promise.reject(new Error('x')));
    expect(await ask()).toBe('\n');
  });
});

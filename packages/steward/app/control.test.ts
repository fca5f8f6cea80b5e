import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askSteward, type ControlServer, controlSocket, serveControl } from '../control/index.ts';
import { inOrder, use, World } from '../loop/testing/fakes.ts';
import { controlHandlers } from './control-handlers.ts';

let world: World;
let folder: string;
let socket: string;
let server: ControlServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-control-'));
  chmodSync(folder, 0o700);
  socket = controlSocket(folder);
  world = new World();
  const parts = await world.start();
  const about = { pid: 7, version: '1', started_at_ms: 1, config_folder: '/srv/steward' };
  const handlers = controlHandlers({
    ...parts,
    about: () => ({ ...about, servers: ['files'], channels: [] }),
    pending: () => ({ pending_confirmations: 0, pending_changes: 0 }),
    nowMs: () => world.nowMs,
  });
  const serving = await serveControl(socket, handlers);
  if (isFailure(serving)) throw new Error(serving.message);
  server = serving;
});
afterEach(async () => {
  await server.close();
  await world.remove();
  rmSync(folder, { recursive: true });
});

const SEND = { channel: 'terminal', person: 'ada', text: 'Read it.' } as const;

test('a message becomes a task, whose steps and reply can be followed', async () => {
  world.script = inOrder(
    { uses: [use('files__read', { path: '/srv/a' })] },
    { text: 'It is read.' },
  );
  const taken = await askSteward(socket, 'send', { input: SEND });
  if (isFailure(taken)) throw new Error(taken.message);
  const { conversation_id } = taken;
  let seen = await askSteward(socket, 'updates', { input: { conversation_id, after: 0 } });
  while (!isFailure(seen) && !seen.is_idle) {
    const input = { conversation_id, after: 0, version: seen.version, wait_ms: 10_000 };
    seen = await askSteward(socket, 'updates', { input });
  }
  expect(seen).toMatchObject({
    is_idle: true,
    messages: [
      { role: 'user', text: 'Read it.' },
      { role: 'assistant', text: 'It is read.' },
    ],
    tasks: [{ state: 'done', steps: [{ server: 'files', tool: 'read', state: 'done' }] }],
  });
  const status = await askSteward(socket, 'status', { input: {} });
  expect(status).toMatchObject({
    pid: 7,
    open_tasks: [],
    spending: [{ purpose: 'agent', turns: 2 }],
  });
});

test('a task that hangs is stopped', async () => {
  world.script = () => new Promise(() => undefined);
  const taken = await askSteward(socket, 'send', { input: SEND });
  if (isFailure(taken)) throw new Error(taken.message);
  const { conversation_id } = taken;
  expect(await askSteward(socket, 'stop', { input: { conversation_id } })).toEqual({ count: 1 });
  expect(await askSteward(socket, 'tasks', { input: {} })).toMatchObject({
    tasks: [{ state: 'stopped' }],
  });
});

test('the socket is for its owner alone, and is gone when it is closed', async () => {
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await server.close();
  expect(await askSteward(socket, 'status', { input: {} })).toMatchObject({
    code: 'SUB_STEWARD_AWAY',
  });
});

test('a second Steward does not take the socket of the first', async () => {
  const parts = await world.start();
  const handlers = controlHandlers({
    ...parts,
    about: () => {
      throw new Error('never asked');
    },
    pending: () => ({ pending_confirmations: 0, pending_changes: 0 }),
    nowMs: () => 0,
  });
  expect(await serveControl(socket, handlers)).toMatchObject({ code: 'SUB_STEWARD_START' });
});

test.each([
  ['POST', '/v1/send', '{"channel":"telegram","person":"x","text":"hi"}', 'channel'],
  ['POST', '/v1/send', 'nonsense', 'body'],
  ['POST', '/v1/erase', '{}', 'no such method'],
  ['GET', '/v1/status', '', 'no such method'],
])('%s %s with %s is refused', async (method, path, body, why) => {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request({ socketPath: socket, path, method }, (response) => {
      expect(response.statusCode).toBe(400);
      response.setEncoding('utf8');
      response.on('data', resolve);
    });
    asked.on('error', reject);
    asked.end(body);
  });
  expect(text).toContain(why);
});

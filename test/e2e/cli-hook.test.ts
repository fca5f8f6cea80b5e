// `sub hook` as a client starts it: whatever happens to it or to the process that decides, nothing that it
// prints or ends with lets a tool run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ended, ensureBuilt, ROOT, runSub, SUB, startSub } from './sub.ts';

const BEFORE = JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash' });
const AFTER = JSON.stringify({ hook_event_name: 'PostToolUse', tool_name: 'Bash' });
const PASS = { stdout: '{}', stderr: '', exitCode: 0 };

let folder = '';
const closing: (() => void)[] = [];

beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-hook-'));
});

afterAll(() => {
  for (const close of closing) close();
  rmSync(folder, { recursive: true, force: true });
});

let hosts = 0;

/** A process that decides, and does this with each connection. */
async function host(act: (socket: Socket) => void): Promise<string> {
  const path = join(folder, `${++hosts}.sock`);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.write('a-word\n');
    act(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  closing.push(() => server.close());
  return path;
}

/** Answers when all is told. */
function answering(reply: unknown, told: (text: string) => void = () => undefined) {
  return host((socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', () => {
      told(text);
      socket.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
    });
  });
}

function hook(path: string, input = BEFORE, client = 'codex'): Promise<Ended> {
  return runSub(['hook', client, '--socket', path], { cwd: folder, input });
}

describe('what the process that decides answers', () => {
  test('is printed as it is, and ends the hook', async () => {
    let told = '';
    const path = await answering({ stdout: 'out é', stderr: 'err', exitCode: 2 }, (text) => {
      told = text;
    });
    expect(await hook(path)).toMatchObject({ code: 2, stdout: 'out é', stderr: 'err' });
    const [header = '', body] = told.split('\n');
    expect(JSON.parse(header)).toEqual({
      v: 1,
      client: 'codex',
      pid: expect.any(Number) as number,
    });
    expect(body).toBe(BEFORE);
  });

  test('goes on with nothing to say', async () => {
    expect(await hook(await answering(PASS))).toMatchObject({ code: 0, stdout: '{}', stderr: '' });
  });

  test('may be long, and so may be what is asked', async () => {
    const long = 'x'.repeat(3_000_000);
    const path = await answering({ ...PASS, stdout: long });
    const result = await hook(path, JSON.stringify({ ...JSON.parse(BEFORE), tool_input: long }));
    expect(result.stdout.length).toBe(long.length);
  });
});

describe('a hook refuses, and says what to do,', () => {
  const REFUSED = { code: 2, stdout: '', isExplained: true };
  const effect = ({ code, stdout, stderr }: Ended) => {
    return { code, stdout, isExplained: /refuses .*`sub doctor`/s.test(stderr) };
  };

  test('when nobody listens', async () => {
    expect(effect(await hook(join(folder, 'none.sock')))).toEqual(REFUSED);
  });

  test('when it is not told whom to ask', async () => {
    const result = await runSub(['hook', 'codex', '--sock', 'x'], { cwd: folder, input: BEFORE });
    expect(effect(result)).toEqual(REFUSED);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'yes'],
    ['half an answer', '{"stdout":"{}","stderr":""'],
    ['another exit code', JSON.stringify({ ...PASS, exitCode: 1 })],
    ['no text', JSON.stringify({ ...PASS, stdout: {} })],
    ['a list', '[]'],
  ])('when the answer is %s', async (_what, answer) => {
    expect(effect(await hook(await answering(answer)))).toEqual(REFUSED);
  });

  test('when the connection is cut', async () => {
    const path = await host((socket) => socket.once('data', () => socket.destroy()));
    expect(effect(await hook(path))).toEqual(REFUSED);
  });

  test('when the process that decides is killed in the middle', async () => {
    const path = join(folder, 'killed.sock');
    const code = `require('node:net').createServer((socket) => socket.once('data', () => {
      process.kill(process.pid, 'SIGKILL');
    }).write('\\n')).listen(process.argv[1], () => console.log('ready'));`;
    const child = spawn(process.execPath, ['-e', code, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(effect(await hook(path))).toEqual(REFUSED);
  });

  test.each([
    ['is empty', ''],
    ['is too large', `{"a":"${'x'.repeat(17 * 1_048_576)}"}`],
  ])('when its input %s', async (_what, input) => {
    const path = await answering(PASS);
    expect(effect(await hook(path, input))).toEqual(REFUSED);
  });

  test('to a client that it does not know', async () => {
    expect(effect(await hook(join(folder, 'none.sock'), BEFORE, 'nobody'))).toEqual(REFUSED);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('when it gets %s', async (signal) => {
    let asked: () => void = () => undefined;
    const asking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const path = await host((socket) => socket.once('data', () => asked()));
    const child = startSub(['hook', 'codex', '--socket', path], { cwd: folder });
    const result = ended(child);
    child.stdin?.end(BEFORE);
    await asking;
    child.kill(signal);
    expect(effect(await result)).toEqual(REFUSED);
  });

  test('when its answer cannot be written', async () => {
    let answer: () => void = () => undefined;
    const path = await host((socket) => {
      socket.resume().on('end', () => answer());
      answer = () => socket.end(JSON.stringify({ ...PASS, stdout: 'x'.repeat(1_000_000) }));
    });
    const child = startSub(['hook', 'codex', '--socket', path], { cwd: folder });
    child.stdout?.destroy();
    child.stdin?.end(BEFORE);
    await once(child, 'exit');
    expect(child.exitCode).toBe(2);
  });
});

describe('a refusal has the form that holds for its event', () => {
  test('Claude Code ends the session where a tool has run', async () => {
    const result = await hook(join(folder, 'none.sock'), AFTER, 'claude-code');
    expect(result.code).toBe(0);
    expect(JSON.parse(result.stdout)).toMatchObject({ continue: false });
  });

  test('Claude Code refuses a tool that has not run', async () => {
    const result = await hook(join(folder, 'none.sock'), BEFORE, 'claude-code');
    expect(result.code).toBe(2);
    expect(JSON.parse(result.stdout)).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
  });

  test('Codex may end its turn', async () => {
    const input = JSON.stringify({ hook_event_name: 'Stop' });
    expect(await hook(join(folder, 'none.sock'), input)).toMatchObject({ code: 0, stdout: '' });
  });
});

test('the launcher that starts hooks sooner is `sub` for everything else as well', async () => {
  const quick = SUB.replace(/mjs$/, 'cjs');
  const start = (args: readonly string[]) =>
    spawn(process.execPath, [quick, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const path = await answering({ stdout: 'out', stderr: 'err', exitCode: 2 });
  const child = start(['hook', 'codex', '--socket', path]);
  child.stdin.end(BEFORE);
  expect(await ended(child)).toMatchObject({ code: 2, stdout: 'out', stderr: 'err' });
  expect(await ended(start(['version']))).toMatchObject({ code: 0, stderr: '' });
  expect((await ended(start(['hook', '--help']))).stdout).toMatch(/^Usage: sub hook /);
});

describe('a broken installation refuses', () => {
  test.each([
    ['without its scripts', undefined, 'sub.mjs'],
    ['with a script that is cut', '(function(exports', 'sub.mjs'],
    ['without its scripts', undefined, 'sub.cjs'],
    ['with a script that is cut', '(function(exports', 'sub.cjs'],
  ])('%s', async (_what, script, launcher) => {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(join(ROOT, 'packages/cli/bin'), join(copy, 'bin'), { recursive: true });
    if (script !== undefined) {
      cpSync(join(ROOT, 'packages/cli/dist/hook'), join(copy, 'dist', 'hook'), { recursive: true });
      writeFileSync(join(copy, 'dist', 'hook.js'), './cut.js\n');
      writeFileSync(join(copy, 'dist', 'hook', 'cut.js'), script);
    }
    const child = spawn(process.execPath, [join(copy, 'bin', launcher), 'hook', 'codex'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const result = await ended(child);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(/\S/);
  });
});

// An MCP server that does what the test tells it over a socket, and tells the test what it gets.
// The connection lasts as long as the process: its end is how the test learns of a death.
//   puppet.mjs SOCKET           the server
//   puppet.mjs SOCKET child     a process of the server's, which only lives
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, writeSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const [, , socketPath = '', role = 'server'] = process.argv;

const control = connect(socketPath);
const tell = (fact) => control.write(`${JSON.stringify(fact)}\n`);
// The test is over: nothing may outlive it.
control.on('close', () => process.exit(99));
control.on('error', () => process.exit(99));

let input;
let endsAtEof = true;
let swallowed;

function take(chunk) {
  if (swallowed === undefined) return tell({ got: chunk.toString('base64') });
  swallowed.bytes += chunk.length;
  swallowed.hash.update(chunk);
}

function listen() {
  input = new Socket({ fd: 0, readable: true, writable: false });
  input.on('data', take);
  input.on('error', () => undefined);
  input.on('end', () => {
    tell({ eof: true });
    // The answer to `eof` must have left before the process ends.
    if (endsAtEof) control.end(() => process.exit(0));
  });
}

/** Blocks until every byte is written, as a plain program does. */
function write(fd, bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function fork({ detached = false, ignore: ignored = [], holds = false }) {
  const stdio = holds ? ['ignore', 'inherit', 'inherit'] : 'ignore';
  const args = [fileURLToPath(import.meta.url), socketPath, 'child', ...ignored];
  spawn(process.execPath, args, { detached, stdio });
}

/** Numbered notifications, each of `bytes` bytes with its newline. */
function flood({ lines, bytes }) {
  const hash = createHash('sha256');
  for (let at = 0; at < lines; at++) {
    const head = `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":${at},"data":"`;
    const line = Buffer.from(`${head}${'x'.repeat(bytes - head.length - 4)}"}}\n`);
    hash.update(line);
    write(1, line);
  }
  tell({ flooded: hash.digest('hex') });
}

function ignore(names) {
  for (const name of names) {
    if (name === 'eof') endsAtEof = false;
    else process.on(name, () => tell({ signal: name }));
  }
}

const ACTS = {
  listen,
  write: ({ base64 }) => write(1, Buffer.from(base64, 'base64')),
  drip({ base64 }) {
    for (const byte of Buffer.from(base64, 'base64')) write(1, Buffer.of(byte));
  },
  stderr: ({ base64, times = 1 }) => {
    const bytes = Buffer.from(base64, 'base64');
    for (let at = 0; at < times; at++) write(2, bytes);
  },
  closeStdout: () => closeSync(1),
  closeStdin: () => {
    input.destroy();
    // Node keeps the first three open.
    closeSync(0);
  },
  ignore: ({ names }) => ignore(names),
  fork,
  flood,
  pause: () => input.pause(),
  resume: () => input.resume(),
  swallow: () => {
    swallowed = { bytes: 0, hash: createHash('sha256') };
  },
  swallowed: () => {
    const { bytes, hash } = swallowed;
    tell({ swallowed: { bytes, sha256: hash.copy().digest('hex') } });
  },
  die: ({ signal }) => process.kill(process.pid, signal),
  exit: ({ code }) => process.exit(code),
};

function obey(line) {
  const { act, ...how } = JSON.parse(line);
  ACTS[act](how);
  tell({ did: act });
}

let rest = '';
control.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) obey(line);
});

if (role === 'child') {
  const names = process.argv.slice(4);
  ignore(names);
  for (const name of SIGNALS.filter((one) => !names.includes(one)))
    process.on(name, () => process.exit(0));
}
const { SUB_SHIM_ID: shimId } = process.env;
tell({ hello: role, pid: process.pid, ppid: process.ppid, shimId, env: Object.keys(process.env) });

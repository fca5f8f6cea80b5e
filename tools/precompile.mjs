// Runs the shim, a hook and the commands that are used most, and keeps what V8 has compiled meanwhile, so that
// they start without compiling. Another version of V8 takes no notice of it, and without it they only
// start more slowly.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OUT } from './bundle.mjs';
import { ROOT } from './paths.mjs';

const RUN_MS = 10_000;
const POLICY = join(ROOT, 'examples', 'policies', 'starter.yaml');
/** Between them they have rules of most kinds, content gates and taint. */
const SHIM_POLICIES = [join(ROOT, 'examples', 'policies', 'careful.yaml'), POLICY];
const TEXT = 'Hello, and 42 more words to look at: https://example.com/a?b=c.';
const REQUESTS = [
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {} }],
  ['tools/list', {}],
  ['tools/call', { name: 'read_file', arguments: { path: 'a.txt' } }],
  ['tools/call', { name: 'create_file', arguments: { path: 'a.txt', text: TEXT } }],
  ['tools/call', { name: 'create_file', arguments: { path: 'b.txt', text: TEXT } }],
  ['tools/call', { name: 'shell_run', arguments: {} }],
].map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
const INITIALIZED = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`;

/** Answers every request. */
const ECHO = `const RESULTS = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' }, instructions: 'Notes.' },
  'tools/list': { tools: ['read_file', 'create_file', 'shell_run'].map((name) => ({ name, description: 'Takes a path and a text.', inputSchema: { type: 'object' } })) },
  'tools/call': { content: [{ type: 'text', text: ${JSON.stringify(TEXT)} }] },
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] }));
});`;

const COMMANDS = [
  ['version'],
  ['status'],
  ['secrets', 'list'],
  ['policy', 'lint', POLICY],
  ['import', '--dry-run'],
  ['approvals'],
  ['run', '--quiet', '--policy', POLICY, '--', process.execPath, '-e', '0'],
  ['wrap', '--quiet', '--', process.execPath, '-e', '0'],
  ['query'],
  ['ledger', 'verify'],
  ['ledgerd', '--stop'],
];

/** As packages/cli/bin/sub.cjs loads the scripts, and with their compiled form written at the end. */
const KEEP = `
const pointer = process.argv.splice(1, 1, 'sub')[0];
// V8 takes a compiled form only where its flags are the same.
if (process.argv[2] === 'shim' && /^11\\./.test(process.versions.v8)) {
  require('node:v8').setFlagsFromString('--semi-space-growth-factor=1 --no-parallel-scavenge');
}
const fs = require('node:fs');
const path = require('node:path');
const { Script } = require('node:vm');
const folder = pointer.replace(/\\.js$/, '');
// The daemon keeps its files to itself; those of the build are for all.
const mode = 0o666 & ~process.umask();
const others = require('node:module').createRequire(pointer);
const scripts = new Map();
const loaded = new Map();
const brought = new Map();
function load(id) {
  if (!id.startsWith('./')) return process.getBuiltinModule(id) ?? others(id);
  if (loaded.has(id)) return loaded.get(id).exports;
  const module = { exports: {} };
  loaded.set(id, module);
  if (!brought.has(id)) bring(id);
  brought.get(id)(module.exports, load, module, performance);
  return module.exports;
}
function bring(id) {
  const file = path.join(folder, id);
  const cachedData = fs.existsSync(file + '.cache') ? fs.readFileSync(file + '.cache') : undefined;
  const script = new Script(fs.readFileSync(file, 'latin1'), { filename: file, cachedData });
  scripts.set(file, script);
  const found = script.runInThisContext();
  const all = typeof found === 'function' ? { [id]: found } : found;
  for (const name of Object.keys(all)) brought.set(name, all[name]);
}
process.on('exit', () => {
  for (const [file, script] of scripts) {
    const next = file + '.' + process.pid + '.next';
    fs.writeFileSync(next, script.createCachedData());
    fs.chmodSync(next, mode);
    fs.renameSync(next, file + '.cache');
  }
});
load(fs.readFileSync(pointer, 'latin1').split('\\n', 1)[0]);
`;

export async function precompile() {
  const home = mkdtempSync(join(tmpdir(), 'sub-build-'));
  try {
    await Promise.all([
      shims(join(home, 'shim')),
      hookOnce(join(home, 'hook')),
      commandsOnce(join(home, 'commands')),
    ]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Starts it with a home of its own. What it answers is of no interest, nor how it ends. */
function start(home, pointer, args) {
  const { PATH } = process.env;
  mkdirSync(join(home, 'sub', 'run'), { recursive: true, mode: 0o700 });
  const child = spawn(process.execPath, ['-e', KEEP, join(OUT, pointer), ...args], {
    cwd: home,
    env: { PATH, HOME: home, SUB_HOME: join(home, 'sub') },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: RUN_MS,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => {});
  child.stderr.resume();
  const ended = new Promise((resolve) => {
    child.on('error', resolve).on('close', resolve);
  });
  return { child, ended };
}

/** The first one with a policy reads it, the second one finds what the first has compiled it to. */
async function shims(home) {
  for (const policy of SHIM_POLICIES) {
    await shimOnce(home, policy);
    await shimOnce(home, policy);
  }
}

async function shimOnce(home, path) {
  const ledger = createServer((socket) => {
    let lines = -1;
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        lines += String(chunk).split('\n').length - 1;
        socket.write(`{"ack":${lines}}\n`);
      });
  });
  mkdirSync(join(home, 'sub', 'run'), { recursive: true, mode: 0o700 });
  try {
    await new Promise((resolve) => {
      ledger.once('error', resolve).listen(join(home, 'sub', 'run', 'ledger.sock'), resolve);
    });
    const policy = existsSync(path) ? ['--policy', path] : [];
    const server = ['--', process.execPath, '-e', ECHO];
    const args = ['shim', '--server-name', 'a', ...policy, ...server];
    const { child, ended } = start(home, 'shim.js', args);
    let answers = 0;
    child.stdin.write(REQUESTS[0]);
    child.stdout.on('data', (chunk) => {
      answers += String(chunk).split('\n').length - 1;
      if (answers >= REQUESTS.length) child.stdin.end();
      else child.stdin.write((answers === 1 ? INITIALIZED : '') + REQUESTS[answers]);
    });
    await ended;
  } finally {
    ledger.close();
  }
}

async function hookOnce(home) {
  const host = createServer({ allowHalfOpen: true }, (socket) => {
    socket
      .on('error', () => {})
      .on('end', () => socket.end('{"stdout":"{}","stderr":"","exitCode":0}'))
      .resume();
  });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, 'hooks.sock');
  try {
    await new Promise((resolve) => {
      host.once('error', resolve).listen(path, resolve);
    });
    // Without a socket it looks for the process of its agent, and finds nobody to ask.
    for (const at of [['--socket', path], []]) {
      const { child, ended } = start(home, 'hook.js', ['hook', 'claude-code', ...at]);
      child.stdin.end('{}');
      child.stdout.resume();
      await ended;
    }
  } finally {
    host.close();
  }
}

/** One after the other, so that each adds to what those before it have compiled. */
async function commandsOnce(home) {
  const daemon = start(home, 'sub.js', ['ledgerd', '--foreground']);
  // It tells when it serves; a build of something else may tell nothing.
  await Promise.race([
    daemon.ended,
    new Promise((resolve) => {
      daemon.child.stdout.once('data', resolve);
      daemon.child.stderr.once('data', resolve);
    }),
  ]);
  for (const args of COMMANDS) {
    const { child, ended } = start(home, 'sub.js', args);
    child.stdin.end();
    child.stdout.resume();
    await ended;
  }
  daemon.child.kill('SIGTERM');
  await daemon.ended;
}

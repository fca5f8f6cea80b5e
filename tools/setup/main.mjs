import { spawn } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  buildHash,
  buildState,
  dropStamp,
  installHash,
  installState,
  leftOut,
  writeStamp,
} from './fresh.mjs';
import { noteStep, takeLock } from './lock.mjs';
import { ROOT } from './paths.mjs';
import { SENTENCE } from './unwritable.mjs';

const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
const KILL_AFTER_MS = 2_000;

// What npm and the file system say when they fail, and what helps.
const FIXES = [
  { signs: /\b(?:ENOSPC|EDQUOT)\b/, fix: 'The disk is full. Free some space and run this again.' },
  { signs: /\b(?:EROFS|EACCES|EPERM)\b/, fix: SENTENCE },
];
const NPM_FIXES = [
  {
    signs: /can only install packages when|EUSAGE/,
    fix: 'package.json and package-lock.json disagree. Run `npm install`, then `npm run lockfile`, and commit the lockfile.',
  },
  { signs: /EINTEGRITY/, fix: 'A download was damaged. Run `npm cache verify`, then this again.' },
  {
    signs: /CERT_|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    fix: 'The registry shows a certificate that Node does not trust. Point NODE_EXTRA_CA_CERTS at your CA file.',
  },
  {
    signs: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/,
    fix: 'The package registry cannot be reached. Check the network, HTTPS_PROXY and `npm config get registry`, then run this again.',
  },
  { signs: /spawn npm.* ENOENT/, fix: 'npm is not on the path. Install it with Node.' },
];
const INSTALL = 'npm ci';
/** The scripts of package.json that write into a checkout that is ready. */
const WRITERS = new Set(['test', 'test:clients', 'check', 'bench', 'dev', 'format', 'schemas']);

class Interrupted extends Error {
  constructor(signal) {
    super('interrupted');
    this.exitCode = SIGNALS[signal];
  }
}

class StepFailed extends Error {
  constructor(step, code, output) {
    super(`${step} failed with exit code ${code}`);
    this.step = step;
    this.exitCode = code;
    this.output = output;
  }
}

/** Installs and builds what is stale; the exit code is that of the step that failed. */
async function main(args) {
  const wrong = args.filter((arg) => arg !== '--build');
  if (wrong.length > 0) {
    say(`unknown option ${wrong[0]}. Usage: node tools/setup.mjs [--build]`);
    process.exitCode = 2;
    return;
  }
  const force = args.includes('--build');
  try {
    if (force || !isReady()) await makeReady(force);
    else if (WRITERS.has(process.env.npm_lifecycle_event)) probe();
  } catch (cause) {
    explain(cause);
    process.exitCode = cause.exitCode ?? 1;
  }
}

/** The test runner and the tools keep caches in node_modules, and would fail there with a stack. */
function probe() {
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.probe-'));
  rmdirSync(folder);
}

function isReady() {
  return installState(installHash()) === 'fresh' && buildState(buildHash()) === 'fresh';
}

async function makeReady(force) {
  const release = await takeLock((owner) =>
    say(`waiting for another setup${owner ? ` (pid ${owner.pid})` : ''} to finish`),
  );
  const interrupt = onInterrupt(release);
  try {
    await install(interrupt.children);
    await build(force, interrupt.children);
  } catch (cause) {
    throw interrupt.signal === undefined ? cause : new Interrupted(interrupt.signal);
  } finally {
    interrupt.off();
    release();
  }
}

/** Passes a signal on and lets the step end first: the lock is held for as long as it writes. */
function onInterrupt(release) {
  const children = new Set();
  const state = { children, signal: undefined, off: () => {} };
  const stop = (signal) => {
    state.signal = signal;
    const giveUp = () => {
      for (const child of children) child.kill('SIGKILL');
      release();
      process.stderr.write('\nsetup: interrupted\n');
      process.exit(SIGNALS[signal]);
    };
    if (children.size === 0) giveUp();
    for (const child of children) child.kill(signal);
    setTimeout(giveUp, KILL_AFTER_MS).unref();
  };
  for (const signal of Object.keys(SIGNALS)) process.once(signal, stop);
  state.off = () => {
    for (const signal of Object.keys(SIGNALS)) process.off(signal, stop);
  };
  return state;
}

async function install(children) {
  const hash = installHash();
  const state = installState(hash);
  if (state === 'fresh') return;
  if (state === 'stale') {
    // The build goes too: it was made from the dependencies that now leave.
    dropStamp('build');
    dropStamp('install');
    const npm = npmCommand();
    await timed('installing dependencies with npm ci', () =>
      run(INSTALL, { ...npm, args: [...npm.args, ...NPM_CI] }, children),
    );
    const missing = leftOut();
    if (missing.length > 0) {
      throw new Error(
        `npm ci left out ${missing.join(', ')}. A full disk or a failed download does that: see to it and run this again.`,
      );
    }
  }
  writeStamp('install', hash);
}

async function build(force, children) {
  const hash = buildHash();
  if (!force && buildState(hash) === 'fresh') return;
  dropStamp('build');
  const command = { file: process.execPath, args: [join(ROOT, 'tools', 'build.mjs')] };
  await timed('building', () => run('the build', command, children));
  writeStamp('build', hash);
}

/** The npm that called us, else the one on the path. */
function npmCommand() {
  const called = process.env.npm_execpath ?? '';
  if (basename(called).startsWith('npm-cli.')) return { file: process.execPath, args: [called] };
  return process.platform === 'win32'
    ? { file: 'npm.cmd', args: [], shell: true }
    : { file: 'npm', args: [] };
}

/** Runs one step quietly; what it printed comes out only when it fails. */
function run(step, { file, args, shell = false }, children) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: ROOT, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => {
      output = (output + chunk).slice(-64 * 1024);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    children.add(child);
    noteStep(child.pid);
    child.on('error', (cause) => reject(Object.assign(cause, { step })));
    child.on('close', (code, signal) => {
      children.delete(child);
      if (code === 0) resolve();
      else reject(new StepFailed(step, code ?? SIGNALS[signal] ?? 1, output));
    });
  });
}

async function timed(what, work) {
  const startMs = performance.now();
  process.stderr.write(`setup: ${what} …`);
  try {
    await work();
    process.stderr.write(` ${((performance.now() - startMs) / 1000).toFixed(1)} s\n`);
  } catch (cause) {
    process.stderr.write(' failed\n');
    throw cause;
  }
}

function explain(cause) {
  const output = cause instanceof StepFailed ? cause.output.trim() : '';
  if (output !== '') process.stderr.write(`${output}\n`);
  say(cause.message);
  const text = `${cause.code ?? ''} ${cause.message} ${output}`;
  const fixes = cause.step === INSTALL ? [...FIXES, ...NPM_FIXES] : FIXES;
  const known = fixes.find(({ signs }) => signs.test(text));
  if (known !== undefined && !output.includes(known.fix)) say(known.fix);
}

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

export { main };

// Runs commands of `sub` one after the other, each as its launcher starts it: with scripts that nobody has run
// before it, a folder, an environment and streams of its own. What they share is a process that has compiled them
// already. A line of JSON comes in for each by descriptor 3, and one goes out when nothing is left to do.
import { readSync, realpathSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, sep } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const CHANNEL = 3;
const OURS = new Set(['exit', 'beforeExit']);
const [launcher = ''] = process.argv.slice(2);
const { cache: required } = createRequire(launcher);
const { Script } = vm;
const scripts = new Map();
const chunk = Buffer.alloc(65_536);
let received = Buffer.alloc(0);
let printed;
let commands = 0;

vm.Script = function KeptScript(text, options) {
  const script = scripts.get(options.filename) ?? new Script(text, options);
  scripts.set(options.filename, script);
  return script;
};

process.on('exit', report);
// Where a process of its own would end.
process.on('beforeExit', (code) => {
  report(code);
  for (const name of process.eventNames()) if (!OURS.has(name)) process.removeAllListeners(name);
  process.exitCode = undefined;
  const line = nextLine();
  if (line !== undefined) begin(JSON.parse(line));
});

function nextLine() {
  for (;;) {
    const end = received.indexOf('\n');
    if (end !== -1) {
      const line = received.toString('utf8', 0, end);
      received = received.subarray(end + 1);
      return line;
    }
    const bytes = readSync(CHANNEL, chunk);
    if (bytes === 0) return undefined;
    received = Buffer.concat([received, chunk.subarray(0, bytes)]);
  }
}

function begin({ args, cwd, env, input }) {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, launcher, ...args];
  printed = { stdout: [], stderr: [] };
  replace('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)]));
  for (const name of ['stdout', 'stderr']) replace(name, collector(printed[name]));
  commands += 1;
  // What the launcher requires beside it runs again, too.
  const beside = dirname(realpathSync(launcher)) + sep;
  for (const id of Object.keys(required)) if (id.startsWith(beside)) delete required[id];
  setImmediate(() => import(`${pathToFileURL(launcher)}?${commands}`));
}

function replace(name, value) {
  Object.defineProperty(process, name, { value, configurable: true });
}

function collector(chunks) {
  return new Writable({
    write(data, _, done) {
      chunks.push(data);
      done();
    },
  });
}

function report(code) {
  if (printed === undefined) return;
  const stdout = Buffer.concat(printed.stdout).toString();
  const stderr = Buffer.concat(printed.stderr).toString();
  printed = undefined;
  const answer = Buffer.from(`${JSON.stringify({ code, stdout, stderr })}\n`);
  for (let sent = 0; sent < answer.length; ) sent += writeSync(CHANNEL, answer, sent);
}

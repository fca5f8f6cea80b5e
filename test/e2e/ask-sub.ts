// Runs commands of the built `sub` in a process that stays, for a fraction of what a process for each costs.
// For those of which the output, the exit code and the files are all that matters; what is about signals, pipes,
// terminals or several commands at once has processes of its own (`runSub`).
import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type Ended, ROOT, runSub, SUB, type SubOptions, subEnvironment } from './sub.ts';

const COMMAND_MAX_MS = 50_000;
/** They start programs or stay, and what becomes of their process is what matters. */
const OWN_PROCESS = new Set(['run', 'wrap', 'shim', 'serve', 'ledgerd', 'proxy', 'hook', 'demo']);
const HOST = `${ROOT}test/e2e/command-host.mjs`;

interface Host {
  readonly child: ChildProcess;
  readonly channel: Duplex;
}

let host: Host | undefined;
let last: Promise<unknown> = Promise.resolve();

/** One command at a time: those that are asked for at once wait for each other. */
export function askSub(args: readonly string[], options: SubOptions): Promise<Ended> {
  if (OWN_PROCESS.has(args[0] ?? '')) return runSub(args, options);
  const { cwd, input = '', env } = options;
  const asked = last.then(() => ask({ args, cwd, input, env: subEnvironment(env) }));
  last = asked.catch(() => undefined);
  return asked;
}

function startHost(): Host {
  const child = spawn(process.execPath, [HOST, SUB], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const channel = child.stdio[3] as Duplex & { unref: () => void };
  // It ends with the worker that has started it, and keeps nobody waiting.
  child.unref();
  channel.unref();
  channel.on('error', () => undefined);
  const started = { child, channel };
  child.on('close', () => {
    if (host === started) host = undefined;
  });
  return started;
}

function ask(command: object): Promise<Ended> {
  host ??= startHost();
  const { child, channel } = host;
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), COMMAND_MAX_MS);
    const finish = () => {
      clearTimeout(timer);
      channel.off('data', take);
      child.off('close', lose);
    };
    const lose = () => {
      finish();
      reject(new Error(`the process went away with the command ${JSON.stringify(command)}`));
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.at(-1) !== 0x0a) return;
      finish();
      const answer = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Ended, 'signal'>;
      resolve({ ...answer, signal: null });
    };
    channel.on('data', take);
    child.on('close', lose);
    channel.write(`${JSON.stringify(command)}\n`);
  });
}

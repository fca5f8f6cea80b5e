// Bundles the fixtures and starts the servers among them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { writeBundle } from '../../bundled.ts';
import { ROOT } from '../../clients/installed.ts';
import type { Revision } from './suite.ts';

const SOURCES = join(ROOT, 'test', 'conformance', 'mcp');
const BUNDLES = join(ROOT, 'node_modules', '.cache', 'subluminal', 'conformance');

export const SERVER_OF: Readonly<Record<Revision, string>> = {
  '2025-11-25': 'legacy-server',
  '2026-07-28': 'modern-server',
};

const written = new Set<string>();

/** One file that Node starts at once: the client is started more than a hundred times. */
export function bundledFixture(name: string): string {
  const file = join(BUNDLES, `${name.replaceAll('/', '-')}.mjs`);
  if (!written.has(file)) writeBundle(file, join(SOURCES, `${name}.ts`));
  written.add(file);
  return file;
}

export interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

/** A program that says its address in its first line on stdout. */
export async function startServer(
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
): Promise<Started> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(env && { env }),
  });
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => undefined)]);
  if (url === undefined) throw new Error(`${args.join(' ')} did not start`);
  return { url: String(url[0]), stop: () => stopped(child) };
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

// `sub serve` as a process of its own, with a home of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The built command, and the folder that it keeps its things in. */
export interface SubHome {
  readonly sub: string;
  readonly folder: string;
  readonly env: Record<string, string>;
  remove(): void;
}

export function subHome(sub: string): SubHome {
  const folder = mkdtempSync(join(tmpdir(), 'sub-home-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    SUB_HOME: join(folder, '.subluminal'),
  };
  return { sub, folder, env, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export type ServedServer = { readonly url: string } | { readonly command: readonly string[] };

export interface RunningServe {
  /** Without a slash at its end. */
  readonly origin: string;
  stop(): Promise<void>;
}

const START_MAX_MS = 30_000;

/** Servers by their names in `/mcp/NAME`. JSON is YAML. */
export async function startServe(
  { sub, folder, env }: SubHome,
  servers: Readonly<Record<string, ServedServer>>,
): Promise<RunningServe> {
  const file = join(folder, 'serve.yaml');
  writeFileSync(file, JSON.stringify({ listen: '127.0.0.1:0', auth: { none: true }, servers }));
  const child = spawn(process.execPath, [sub, 'serve', '--config', file], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { origin: await listening(child), stop: () => ended(child) };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MAX_MS);
    const read = (chunk: Buffer): void => {
      said += chunk.toString();
      const origin = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(said)?.[0];
      if (origin === undefined) return;
      clearTimeout(timer);
      resolve(origin);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.on('exit', () => reject(new Error(`sub serve did not start:\n${said}`)));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MAX_MS);
  await exit;
  clearTimeout(timer);
}

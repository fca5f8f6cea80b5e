// Runs the built `sub` as a user does: as a process of its own, on real files.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const SUB = `${ROOT}packages/cli/bin/sub.mjs`;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SubOptions {
  readonly cwd: string;
  readonly input?: string;
  readonly env?: { readonly [name: string]: string };
}

/** Builds when nothing is built yet; what is stale is the business of the setup. */
export function ensureBuilt(): void {
  if (existsSync(`${ROOT}packages/cli/dist/sub.js`)) return;
  const built = spawnSync(process.execPath, ['tools/build.mjs'], { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stderr}`);
}

const OURS = new Set([
  'NO_COLOR',
  'FORCE_COLOR',
  'SUB_DEBUG',
  'NODE_EXTRA_CA_CERTS',
  'COLUMNS',
  'COLORTERM',
]);

/** Without the settings of whoever runs the tests: colours, and slow certificates. */
export function subEnvironment(env: SubOptions['env']): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !OURS.has(name));
  return { ...Object.fromEntries(inherited), ...env };
}

export function startSub(args: readonly string[], { cwd, env = {} }: SubOptions): ChildProcess {
  return spawn(process.execPath, [SUB, ...args], {
    cwd,
    env: subEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Starts a command on a terminal of its own, where `script` is there to make one. */
export function startOnTerminal(
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) {
  // Not every shell steps aside for a single command: one that stays takes Ctrl-C itself.
  return spawn('script', ['-qefc', `exec ${words.join(' ')}`, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

export const HAS_TERMINAL = existsSync('/usr/bin/script');

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

export function runSub(args: readonly string[], options: SubOptions): Promise<Ended> {
  const child = startSub(args, options);
  const result = ended(child);
  // A command that does not read its input may be gone before it is written.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.input ?? '');
  return result;
}

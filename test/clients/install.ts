// Installs a pinned program beside the dependencies of the project, from its own lockfile.
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { binFolder, type Pinned } from './installed.ts';

export type Installed =
  | { readonly kind: 'ready'; readonly isNew: boolean }
  /** Nobody's fault: this machine or its registry has not got it. */
  | { readonly kind: 'absent'; readonly why: string }
  | { readonly kind: 'failed'; readonly output: string };

// Scripts never run: what the tests start is what the lockfile has the hashes of.
const NPM_CI = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
// A registry that is not there is told after seconds, not after minutes.
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=500'];
const INSTALL_MAX_MS = 10 * 60_000;
const OUTPUT_LENGTH_MAX = 64 * 1024;

const ABSENT: readonly (readonly [RegExp, string])[] = [
  [/\b(?:E404|ETARGET|ENOVERSIONS|E403)\b/, 'the package registry has not got it'],
  [
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/,
    'the package registry cannot be reached',
  ],
];

export async function install(client: Pinned): Promise<Installed> {
  if (binFolder(client) !== undefined) return { kind: 'ready', isNew: false };
  const draft = `${client.folder}.${process.pid}.next`;
  try {
    mkdirSync(draft, { recursive: true });
    for (const name of ['package.json', 'package-lock.json']) {
      copyFileSync(join(client.manifest, name), join(draft, name));
    }
    const { code, output } = await npmCi(draft);
    if (code !== 0) return unsuccessful(output);
    if (binFolder({ ...client, folder: draft }) === undefined) {
      const machine = `${process.platform} on ${process.arch}`;
      return { kind: 'absent', why: `npm gave no native part of it for ${machine}` };
    }
    takeOver(client, draft);
    return { kind: 'ready', isNew: true };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function unsuccessful(output: string): Installed {
  // A part that is not what was pinned is never a reason to look away.
  const reason = /\bEINTEGRITY\b/.test(output)
    ? undefined
    : ABSENT.find(([signs]) => signs.test(output));
  return reason === undefined ? { kind: 'failed', output } : { kind: 'absent', why: reason[1] };
}

function takeOver(client: Pinned, draft: string): void {
  const { id, folder } = client;
  // Another run may have been quicker, and may be using what it installed: it has the same hashes.
  if (binFolder(client) !== undefined) return;
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  // Hundreds of megabytes each: only the pinned one stays.
  const all = dirname(folder);
  const old = readdirSync(all).filter(
    (name) => name.startsWith(`${id}-`) && !name.endsWith('.next') && name !== basename(folder),
  );
  for (const name of old) rmSync(join(all, name), { recursive: true, force: true });
}

function npmCi(folder: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const called = process.env['npm_execpath'] ?? '';
  const isNpm = basename(called).startsWith('npm-cli.') && existsSync(called);
  const [program, first] = isNpm ? [process.execPath, [called]] : ['npm', []];
  // Named, because the npm that called us names the checkout as the place to install to.
  const args = [...first, ...NPM_CI, ...RETRIES, '--prefix', folder];
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: INSTALL_MAX_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (cause) => resolve({ code: null, output: cause.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** The line that says how an installation went. */
export function installText({ title, version }: Pinned, outcome: Installed): string {
  const name = `${title} ${version}`;
  switch (outcome.kind) {
    case 'ready':
      return `${name} ${outcome.isNew ? 'installed' : 'is there'}`;
    case 'absent':
      return `${name} skipped: ${outcome.why}`;
    case 'failed':
      return `${name} could not be installed:\n${outcome.output}`;
  }
}

// The packed product, installed from its tarball as a user installs it: with a home of its own, and
// nothing of the checkout in reach.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './e2e/sub.ts';

export const INSTALL_MS = 180_000;

interface Succeeding {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** Runs a command that must end well; gives what it printed. */
export function succeed(file: string, args: readonly string[], options: Succeeding): string {
  const { cwd, env, timeoutMs: timeout = INSTALL_MS } = options;
  const ended = spawnSync(file, args, { cwd, env, encoding: 'utf8', timeout });
  if (ended.status !== 0) {
    throw new Error(`${file} ${args.join(' ')} ended with ${ended.status}:\n${ended.stderr}`);
  }
  return ended.stdout;
}

/** What the system needs, and nothing that points back to the checkout; the home is in the folder. */
export function bareEnvironment(folder: string): NodeJS.ProcessEnv {
  const path = (process.env['PATH'] ?? '').split(':').filter((one) => !one.startsWith(ROOT));
  return { PATH: path.join(':'), HOME: join(folder, 'home'), TMPDIR: folder };
}

/** Packs the checkout into a folder; gives the path of the tarball. */
export function packInto(folder: string): string {
  const env = bareEnvironment(folder);
  succeed(process.execPath, [join(ROOT, 'tools', 'package.mjs'), folder], { cwd: ROOT, env });
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
}

/** Installs a tarball below a folder; gives the path of the command `sub` there. */
export function installTarball(
  tarball: string,
  prefix: string,
  ...words: readonly string[]
): string {
  const folder = join(prefix, '..');
  const { HOME = '', TEST_CA_CERTS = '' } = process.env;
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  succeed('npm', ['install', '--prefix', prefix, ...quiet, ...words, tarball], {
    cwd: folder,
    env: {
      ...bareEnvironment(folder),
      // npm has most packages already, and the registry may be behind certificates of the machine.
      npm_config_cache: join(HOME, '.npm'),
      ...(TEST_CA_CERTS && { NODE_EXTRA_CA_CERTS: TEST_CA_CERTS }),
    },
  });
  return join(prefix, 'node_modules', '.bin', 'sub');
}

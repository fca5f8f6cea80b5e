// `npm run lockfile`, after a dependency has changed: makes package-lock.json fit for `npm ci`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { complete, missingEntries } from './complete.ts';
import { readLockfile } from './read.ts';

const FILE = fileURLToPath(new URL('../../package-lock.json', import.meta.url));

/** Returns the exit code. */
function main(): number {
  const lockfile = readLockfile(readFileSync(FILE, 'utf8'));
  if (lockfile === undefined) {
    process.stderr.write('lockfile: package-lock.json is no lockfile. Run `npm install`.\n');
    return 1;
  }
  const missing = missingEntries(lockfile.packages);
  const completed = { ...lockfile, packages: complete(lockfile.packages) };
  if (missing.length > 0) writeFileSync(FILE, `${JSON.stringify(completed, null, 2)}\n`);
  const left = missingEntries(completed.packages);
  process.stdout.write(`lockfile: ${missing.length - left.length} entries added\n`);
  for (const { name, version } of left) {
    process.stderr.write(
      `lockfile: ${name}@${version} is missing and its name tells no platform\n`,
    );
  }
  return left.length === 0 ? 0 : 1;
}

process.exitCode = main();

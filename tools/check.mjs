// `npm run check`: what can be said about the tree without running the product. All steps run, whatever
// fails; `npm run check -- lint format` runs only those named.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const STEPS = {
  types: ['tsc', '-b'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  format: ['biome', 'check', '--error-on-warnings', '.'],
  unused: ['knip'],
  structure: ['vitest', 'run', '--reporter=dot', 'tools/'],
};

// The type-aware linter checks files on all cores, and what it takes a deep type for depends on which
// file comes first. On one core the order is always the same.
const ONE_CORE = { ...process.env, GOMAXPROCS: '1' };

const names = process.argv.slice(2);
const unknown = names.find((name) => STEPS[name] === undefined);
if (unknown !== undefined) {
  process.stderr.write(
    `check: no step is called ${unknown}; use ${Object.keys(STEPS).join(', ')}\n`,
  );
  process.exit(2);
}
const failed = [];
for (const [name, [program, ...args]] of Object.entries(STEPS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  process.stdout.write(`\n── ${name}\n`);
  const file = join(ROOT, 'node_modules', '.bin', program);
  const env = name === 'lint' ? ONE_CORE : process.env;
  const options = { cwd: ROOT, env, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status, signal } = spawnSync(file, args, options);
  if (status !== 0) failed.push(name);
  // Ctrl-C ends the whole check, not just the step it hits.
  if (signal !== null) break;
}
process.stdout.write(
  failed.length === 0 ? '\ncheck: ok\n' : `\ncheck: FAILED ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

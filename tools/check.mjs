// `npm run check`: what can be said about the tree without running the product. All steps run, whatever
// fails; `npm run check -- lint format` runs only those named.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './paths.mjs';

const STEPS = {
  types: ['tsc', '-b'],
  lint: ['oxlint', '--type-aware', '--deny-warnings'],
  format: ['biome', 'check', '--error-on-warnings', '.'],
  unused: ['knip'],
  // Folders of packages are called tools, too.
  structure: ['vitest', 'run', '--reporter=dot', '--exclude=packages/**', 'tools/'],
};

// The type-aware linter checks files on all cores, and what it takes a deep type for depends on which
// file comes first. On one core the order is always the same.
const ONE_CORE = { GOMAXPROCS: '1' };

const names = process.argv.slice(2);
const unknown = names.find((name) => STEPS[name] === undefined);
if (unknown !== undefined) {
  process.stderr.write(
    `check: no step is called ${unknown}; use ${Object.keys(STEPS).join(', ')}\n`,
  );
  process.exit(2);
}

/** Its output comes as one piece: beside it run other steps. */
function run(name) {
  const [program, ...args] = STEPS[name];
  const file = join(ROOT, 'node_modules', '.bin', program);
  const isColored = process.stdout.isTTY && process.env.NO_COLOR === undefined;
  const env = {
    ...process.env,
    ...(isColored && { FORCE_COLOR: '1' }),
    ...(name === 'lint' && ONE_CORE),
  };
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(file, args, { cwd: ROOT, env, stdio, shell: process.platform === 'win32' });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => chunks.push(chunk));
  }
  return new Promise((resolve) => {
    child.on('error', (cause) => chunks.push(Buffer.from(`${cause.message}\n`)));
    child.on('close', (code) => {
      process.stdout.write(`\n── ${name}\n`);
      process.stdout.write(Buffer.concat(chunks));
      resolve(code === 0);
    });
  });
}

/** One after the other; gives those that failed. */
async function inTurn(steps) {
  const failed = [];
  for (const name of steps) if (!(await run(name))) failed.push(name);
  return failed;
}

const wanted = Object.keys(STEPS).filter((name) => names.length === 0 || names.includes(name));
// The linter has one core for itself: the other steps take another meanwhile.
const failed = (
  await Promise.all([
    inTurn(wanted.filter((name) => name === 'lint')),
    inTurn(wanted.filter((name) => name !== 'lint')),
  ])
).flat();
process.stdout.write(
  failed.length === 0 ? '\ncheck: ok\n' : `\ncheck: FAILED ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

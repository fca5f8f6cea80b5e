// `npm run check`: everything that can be said about the tree without running the product.
// All steps run, whatever fails; `npm run check -- lint format` runs only those named.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './setup/paths.mjs';

const STEPS = [
  { name: 'types', command: bin('tsc', '-b') },
  { name: 'lint', command: bin('oxlint', '--type-aware', '--deny-warnings') },
  { name: 'format', command: bin('biome', 'check', '--error-on-warnings', '.') },
  { name: 'unused', command: bin('knip') },
  { name: 'structure', command: script('tools/tidy/main.ts') },
  { name: 'requirements', command: script('tools/requirements.ts') },
];

function bin(name, ...args) {
  return [join(ROOT, 'node_modules', '.bin', name), ...args];
}

function script(path) {
  return [process.execPath, 'tools/run.mjs', path];
}

/** The steps to run, or undefined when a name is unknown. */
function choose(names) {
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (unknown.length === 0) {
    return STEPS.filter(({ name }) => names.length === 0 || names.includes(name));
  }
  const known = STEPS.map(({ name }) => name).join(', ');
  process.stderr.write(`check: no step is called ${unknown.join(', ')}. The steps: ${known}.\n`);
  return undefined;
}

function runStep({ name, command: [file, ...args] }) {
  process.stdout.write(`\n── ${name}\n`);
  const startMs = performance.now();
  const options = { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' };
  const { status, error, signal } = spawnSync(file, args, options);
  if (error !== undefined) process.stdout.write(`${error.message}\n`);
  return { name, ok: status === 0, signal, tookMs: performance.now() - startMs };
}

function runAll(steps) {
  const results = [];
  for (const step of steps) {
    const result = runStep(step);
    results.push(result);
    // Ctrl-C ends the whole check, not just the step it hit.
    if (result.signal !== null) break;
  }
  process.stdout.write('\n');
  for (const { name, ok, tookMs } of results) {
    const seconds = (tookMs / 1000).toFixed(1).padStart(6);
    process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(13)}${seconds} s\n`);
  }
  return results.length === steps.length && results.every(({ ok }) => ok);
}

const steps = choose(process.argv.slice(2));
if (steps === undefined) process.exitCode = 2;
else process.exitCode = runAll(steps) ? 0 : 1;

// `npm run bench -- [NAME] [options]`: runs bench/NAME.ts, which exports `run(args)`, or all of them.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environmentWarnings, UsageError } from './measure.ts';

type Run = (args: readonly string[]) => unknown;

const NOT_BENCHES = new Set(['main', 'measure']);
const USAGE = 'Usage: npm run bench -- [NAME] [--json] [--samples N]';

function benchNames(): readonly string[] {
  const files = readdirSync(fileURLToPath(new URL('.', import.meta.url)));
  return files
    .filter((file) => /^[a-z0-9-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
    .filter((name) => !NOT_BENCHES.has(name))
    .toSorted();
}

async function load(name: string): Promise<Run> {
  const module: unknown = await import(`./${name}.ts`);
  if (typeof module === 'object' && module !== null && 'run' in module) {
    const { run } = module;
    if (typeof run === 'function') {
      return (args) => {
        const result: unknown = Reflect.apply(run, undefined, [args]);
        return result;
      };
    }
  }
  throw new TypeError(`bench/${name}.ts exports no function called run`);
}

/** Returns the exit code: 2 for a wrong command line. */
async function main(args: readonly string[]): Promise<number> {
  const known = benchNames();
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText(known));
    return 0;
  }
  const [first, ...rest] = args;
  const all = first === undefined || first.startsWith('-');
  if (!all && !known.includes(first)) {
    process.stderr.write(`No benchmark is called ${first}.\n${helpText(known)}`);
    return 2;
  }
  for (const warning of environmentWarnings(process.env)) {
    process.stderr.write(`warning: ${warning}\n`);
  }
  if (!all) return runOne(first, rest);
  process.stderr.write(helpText(known));
  return runAll(known, args);
}

/** One after the other; the worst exit code is that of all. */
async function runAll(names: readonly string[], args: readonly string[]): Promise<number> {
  let worst = 0;
  for (const name of names) {
    process.stderr.write(`\n── ${name}\n`);
    worst = Math.max(worst, await runOne(name, args));
  }
  return worst;
}

async function runOne(name: string, args: readonly string[]): Promise<number> {
  const run = await load(name);
  try {
    const code = await run(args);
    return typeof code === 'number' ? code : 0;
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    process.stderr.write(`${cause.message}\n${USAGE}\n`);
    return 2;
  }
}

function helpText(names: readonly string[]): string {
  const list = names.length === 0 ? 'There are no benchmarks yet.' : names.join(', ');
  return `Benchmarks: ${list}\n${USAGE}\nWithout a NAME, all of them run.\n`;
}

process.exitCode = await main(process.argv.slice(2));

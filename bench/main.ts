// `npm run bench -- NAME [options]`: runs bench/NAME.ts, which exports `run(args)`.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { environmentWarnings, UsageError } from './measure.ts';

type Run = (args: readonly string[]) => unknown;

const NOT_BENCHES = new Set(['main', 'measure']);

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
  const [name, ...rest] = args;
  const known = benchNames();
  if (name === undefined || !known.includes(name)) {
    const problem = name === undefined ? 'No benchmark named.' : `No benchmark is called ${name}.`;
    const list = known.length === 0 ? 'There are none yet.' : `There are: ${known.join(', ')}.`;
    process.stderr.write(
      `${problem} ${list}\nUsage: npm run bench -- NAME [--json] [--samples N]\n`,
    );
    return 2;
  }
  for (const warning of environmentWarnings(process.env)) {
    process.stderr.write(`warning: ${warning}\n`);
  }
  const run = await load(name);
  try {
    const code = await run(rest);
    return typeof code === 'number' ? code : 0;
  } catch (cause) {
    if (cause instanceof UsageError) return wrongUsage(cause.message);
    throw cause;
  }
}

function wrongUsage(problem: string): number {
  process.stderr.write(`${problem}\nUsage: npm run bench -- NAME [--json] [--samples N]\n`);
  return 2;
}

process.exitCode = await main(process.argv.slice(2));

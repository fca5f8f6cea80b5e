// `npm run test:clients`: real agent clients under `sub`, against a scripted model on loopback. What this
// machine cannot install is skipped and named; with `--required` that is a failure. Everything else on the
// command line goes to vitest.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install, installText } from '../test/clients/install.ts';
import { PINNED, ROOT } from '../test/clients/installed.ts';

const REQUIRED = '--required';

async function main(args: readonly string[]): Promise<number> {
  const outcomes = await Promise.all(
    PINNED.map(async (client) => {
      const outcome = await install(client);
      process.stdout.write(`test:clients: ${installText(client, outcome)}\n`);
      return outcome;
    }),
  );
  const absent = outcomes.filter(({ kind }) => kind === 'absent').length;
  if (outcomes.some(({ kind }) => kind === 'failed')) return 1;
  if (absent > 0 && args.includes(REQUIRED)) return 1;
  if (absent === outcomes.length) {
    process.stdout.write('test:clients: skipped, there is no client to test with\n');
    return 0;
  }
  return vitest(args.filter((arg) => arg !== REQUIRED));
}

function vitest(args: readonly string[]): number {
  const program = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const config = join(ROOT, 'test', 'clients', 'vitest.config.ts');
  const { status } = spawnSync(process.execPath, [program, 'run', '--config', config, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return status ?? 1;
}

process.exitCode = await main(process.argv.slice(2));

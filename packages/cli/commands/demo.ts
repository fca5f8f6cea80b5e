import { spawn } from 'node:child_process';
import { defineCommand, done, orThrow } from '../input/command.ts';
import { packageFile } from '../input/package-file.ts';

export const command = defineCommand({
  description:
    'Lets a scripted agent loose on a temporary folder, with a real MCP server and a policy between them, and shows every call. Needs no account, asks no model, and touches nothing of yours.',
  options: { keep: 'Keep the files and the ledger of the demo' },
  hasJson: false,
  examples: ['sub demo', 'sub demo --keep'],
  exitCodes: { 0: 'the demo ended as it should', 1: 'it did not', 2: 'wrong flags' },
  run: async ({ options }) => {
    const start = orThrow(packageFile('examples', 'demo', 'start.mjs'));
    const demo = spawn(process.execPath, [start, ...(options.keep ? ['--keep'] : [])], {
      stdio: 'inherit',
    });
    // A terminal sends its signals to both; what comes to us alone goes on to the demo.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => void demo.kill(signal));
    }
    return new Promise((resolve) => {
      demo.on('exit', (code) => resolve(done(code ?? 1)));
    });
  },
});

import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '@subluminal/contracts';
import { defineCommand, done } from '../input/command.ts';

export const command = defineCommand({
  description:
    'Lets a scripted agent loose on a temporary folder, with a real MCP server and a policy between them, and shows every call. Needs no account, asks no model, and touches nothing of yours.',
  options: { keep: 'Keep the files and the ledger of the demo' },
  hasJson: false,
  examples: ['sub demo', 'sub demo --keep'],
  exitCodes: { 0: 'the demo ended as it should', 1: 'it did not', 2: 'wrong flags' },
  run: async ({ options }) => {
    // npm links the command from another folder.
    const script = realpathSync(process.argv[1] ?? '');
    const start = join(script, '..', '..', '..', '..', 'examples', 'demo', 'start.mjs');
    if (!existsSync(start)) {
      const fix = 'Install the package again.';
      return failure('SUB_FILE_READ', `The files of the demo are missing: ${start}.`, fix);
    }
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

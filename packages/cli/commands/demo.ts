import { spawn } from 'node:child_process';
import { isObject } from '@subluminal/contracts';
import { openBrowser } from '../auth/open-browser.ts';
import { defineCommand, done, orThrow } from '../input/command.ts';
import { packageFile } from '../input/package-file.ts';

export const command = defineCommand({
  description:
    'Lets a scripted agent loose on a temporary folder, with a real MCP server and a policy between them, and shows every call. Needs no account, asks no model, and touches nothing of yours.',
  options: {
    keep: 'Keep the files and the ledger of the demo',
    ui: 'Then show its ledger in the page, until Ctrl-C',
  },
  hasJson: false,
  examples: ['sub demo', 'sub demo --ui', 'sub demo --keep'],
  exitCodes: { 0: 'the demo ended as it should', 1: 'it did not', 2: 'wrong flags' },
  run: async ({ options }) => {
    const start = orThrow(packageFile('examples', 'demo', 'start.mjs'));
    const flags = (['keep', 'ui'] as const).filter((name) => options[name]);
    const demo = spawn(process.execPath, [start, ...flags.map((name) => `--${name}`)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    // A script that runs the demo has nobody who looks.
    demo.on('message', (message) => {
      const url = isObject(message) ? message['open'] : undefined;
      if (typeof url === 'string' && process.stdout.isTTY) void openBrowser(url);
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

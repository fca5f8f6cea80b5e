// What the shim tells the person in front of the machine: JSON lines on stderr, few and bounded.
import { harmlessJson } from '@subluminal/core/visible';

interface Log {
  warn(text: string, facts?: { readonly [name: string]: unknown }): void;
}

const LINES_PER_MINUTE_MAX = 60;
const MINUTE_MS = 60_000;

/** A flood of bad messages must not become a flood of lines. */
function createLog(server: string, now: () => number): Log {
  let minute = 0;
  let lines = 0;
  return {
    warn(text, facts = {}) {
      const current = Math.floor(now() / MINUTE_MS);
      if (current !== minute) [minute, lines] = [current, 0];
      if (++lines > LINES_PER_MINUTE_MAX) return;
      const line = { level: 'warn', component: 'shim', server, message: text, ...facts };
      process.stderr.write(`${harmlessJson(JSON.stringify(line))}\n`);
    },
  };
}

export type { Log };
export { createLog };

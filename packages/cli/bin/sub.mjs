#!/usr/bin/env node
// A committed launcher: npm links it at install time, before anything is built.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const entry = new URL('../dist/sub.js', import.meta.url);
if (!existsSync(fileURLToPath(entry))) {
  process.stderr.write('sub: not built yet. Run `npm run build` in the checkout.\n');
  process.exit(70);
}
await import(entry.href);

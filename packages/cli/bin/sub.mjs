#!/usr/bin/env node
// A committed launcher: npm links it at install time, before anything is built.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// A shim starts with every server of every agent: it has an entry of its own that loads little.
const [first, ...rest] = process.argv.slice(2);
const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
const shim = first === 'shim' && !own.some((word) => word === '--help' || word === '-h');
const entry = new URL(shim ? '../dist/shim.js' : '../dist/sub.js', import.meta.url);
if (!existsSync(fileURLToPath(entry))) {
  process.stderr.write('sub: not built yet. Run `npm run build` in the checkout.\n');
  process.exit(70);
}
await import(entry.href);

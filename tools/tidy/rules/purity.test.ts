import { expect, test } from 'vitest';
import { readSource } from '../source.ts';
import { purity } from './purity.ts';

const count = (path: string, text: string) => purity(readSource({ path, text })).length;

test.each([
  'process.env.HOME',
  'Buffer.from(a)',
  'console.log(a)',
  'await fetch(a)',
  'setTimeout(a, 1)',
  'performance.now()',
  'crypto.randomUUID()',
  'new TextEncoder()',
  "globalThis['process']",
  'const a = b ? process : c;',
  'declare const process: { env: object };',
  'Date.now()',
  "Date['now']()",
  'new Date()',
  'new Date;',
  'Date()',
  'Math.random()',
  '`${process.pid}`',
])('keeps %s out of a pure package', (text) => {
  expect(count('packages/core/a.ts', text)).toBe(1);
  expect(count('packages/contracts/a.ts', text)).toBe(1);
});

test.each([
  'new Date(nowMs)',
  'Date.UTC(2026, 0)',
  'Math.max(a, b)',
  'call.process.env',
  'const a = { process: true, console: 1 };',
  'interface A { readonly crypto: B; fetch(page: string): Page; performance?: number }',
  '// process.env and Date.now()',
  "const text = 'console.log(process)';",
  'const dates = new Dates();',
])('lets %s pass', (text) => {
  expect(count('packages/core/a.ts', text)).toBe(0);
});

test.each(['packages/core/a.test.ts', 'packages/plane/services/hub/a.ts', 'tools/a.ts'])(
  'says nothing about %s',
  (path) => {
    expect(count(path, 'Date.now(); process.exit();')).toBe(0);
  },
);

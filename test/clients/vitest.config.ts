import { defineConfig } from 'vitest/config';

// A project of its own: it needs clients that only `npm run test:clients` installs.
export default defineConfig({
  test: {
    root: new URL('../../', import.meta.url).pathname,
    include: ['test/clients/*.test.ts'],
    pool: 'threads',
    // A client waits as much as it works: one at a time leaves a core idle.
    maxWorkers: 2,
    isolate: false,
    // They run beside other checks on a shared machine, and a client that waits too long gives up.
    retry: 1,
    globalSetup: './tools/test-folder.ts',
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});

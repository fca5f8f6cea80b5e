import { defineConfig } from 'vitest/config';

// Only npm gets it, when a test installs the packed product (test/packed.ts).
process.env['TEST_CA_CERTS'] = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
delete process.env['NODE_EXTRA_CA_CERTS'];

// A project of its own: it needs clients that only `npm run test:clients` installs.
export default defineConfig({
  test: {
    root: new URL('../../', import.meta.url).pathname,
    include: ['test/clients/*.test.ts'],
    pool: 'threads',
    // A client waits more than it works: as many at a time as there are cores leave the machine idle.
    maxWorkers: 3,
    isolate: false,
    // They run beside other checks on a shared machine, and a client that waits too long gives up.
    retry: 1,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});

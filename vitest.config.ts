import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/**/*.test.ts',
      'test/**/*.test.ts',
      'tools/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    // They need clients that are installed on demand: `npm run test:clients`.
    exclude: [...configDefaults.exclude, 'test/clients/**'],
    pool: 'threads',
    // Most of the time they wait for processes: one worker would leave the machine idle.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 60_000,
  },
});

import { statSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Whoever runs the tests may have it set. It adds 50 ms to each of the thousands of processes that they
// start, and none of them speaks to the outside but npm, which gets it back.
process.env['TEST_CA_CERTS'] = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
delete process.env['NODE_EXTRA_CA_CERTS'];

// What says that this is a job of CI: what the tests start would not ask a person there. A test that is
// about CI sets its own.
for (const sign of [
  'CI',
  'GITHUB_ACTIONS',
  'GITLAB_CI',
  'CIRCLECI',
  'BUILDKITE',
  'JENKINS_URL',
  'TF_BUILD',
  'BITBUCKET_BUILD_NUMBER',
  'TRAVIS',
])
  delete process.env[sign];

/** What drives the built command or fills the memory takes longest: it goes first, so that no long file ends alone. */
function weightOf({ moduleId }: TestSpecification): number {
  const isLong = /\/test\/(?:e2e|contract|gateway)\/|memory\.test\.ts$/.test(moduleId);
  return statSync(moduleId).size * (isLong ? 100 : 1);
}

class LongestFirst extends BaseSequencer {
  override sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(specs.toSorted((one, other) => weightOf(other) - weightOf(one)));
  }
}

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
    // Much of the time they wait for processes: as many workers as cores would leave the machine idle.
    maxWorkers: 3,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    globalSetup: './tools/test-folder.ts',
    testTimeout: 60_000,
    // A machine that does much else is slow, and what is awaited comes all the same.
    expect: { poll: { timeout: 30_000 } },
  },
});

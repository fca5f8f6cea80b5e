import { dirname, isAbsolute, join, resolve } from 'node:path';
import { choice, defineCommand, done, EXIT, many, orThrow } from '../input/command.ts';
import { readFileBytes, stdinTwice } from '../input/read-file.ts';
import { formatOption } from '../input/read-option.ts';
import { BAD_POLICY } from '../input/shared-options.ts';
import { loadPolicy } from '../policy/load-policy.ts';
import { runTest, type TestResult, testPaths } from '../policy/run-tests.ts';
import { parseTestFile } from '../policy/test-file.ts';
import { REPORT_FORMATS, renderTests } from '../policy/test-reports.ts';
import type { Io } from '../terminal/io.ts';

const TEST_FILE_BYTES_MAX = 1_048_576;

export const command = defineCommand({
  description:
    'Checks that a policy decides as expected. A file of tests names the policy, calls, and the decision, rule and hint that the last call of each test must get. Nothing is sent anywhere.',
  args: { file: many('Files of tests in YAML or JSON') },
  options: { format: choice(REPORT_FORMATS, 'The form of the report (default: text)') },
  examples: [
    'sub policy test policy.test.yaml',
    'sub policy test --format junit policies/*.test.yaml > report.xml',
    'sub policy test --format github policy.test.yaml',
  ],
  exitCodes: {
    0: 'every test passed',
    1: 'a test failed',
    2: `${BAD_POLICY}; or a file of tests that cannot be used`,
  },
  run: async ({ args, options }, io) => {
    const format = formatOption(options);
    orThrow(stdinTwice(args.file));
    const results: TestResult[] = [];
    for (const path of args.file) results.push(...(await testFile(path, io)));
    io.out.write(renderTests(results, format, io.out));
    return done(results.some(({ faults }) => faults.length > 0) ? EXIT.findings : EXIT.fine);
  },
});

async function testFile(path: string, io: Io): Promise<readonly TestResult[]> {
  const file = orThrow(await readFileBytes(path, { io, bytesMax: TEST_FILE_BYTES_MAX }));
  const { policy, tests } = parseTestFile(file);
  const policyPath = isAbsolute(policy) ? policy : join(dirname(path), policy);
  const cwd = dirname(resolve(policyPath));
  const { snapshot } = orThrow(await loadPolicy(policyPath, { io, paths: testPaths(cwd) }));
  const place = { policyFile: policyPath, cwd, file: file.name };
  const results: TestResult[] = [];
  for (const test of tests) results.push(await runTest(test, snapshot, place));
  return results;
}

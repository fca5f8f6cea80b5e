// Prints, from the JSON report of the tests, those that passed at the second try only, those that failed,
// and as the last line `N passed, N failed`.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

function figures(file) {
  const report = readReport(file);
  if (typeof report === 'string') return { passed: 0, lines: [], failures: [report] };
  const tests = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, name })),
  );
  const failures = [
    ...report.testResults.filter(failedByItself).map(described),
    ...tests.filter(({ status }) => status === 'failed').map(described),
  ];
  return { passed: report.numPassedTests, lines: tests.filter(isWobbly).map(described), failures };
}

/** A file that cannot be loaded, or a hook of it that fails, fails no test. */
function failedByItself({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
}

/** The report, or why there is none. */
function readReport(file) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    if (Array.isArray(report.testResults)) return report;
  } catch {}
  return 'the tests left no report';
}

/** Passed, but not at once: its failures are still there. */
function isWobbly({ status, failureMessages }) {
  return status === 'passed' && failureMessages.length > 0;
}

function described({ name, fullName, failureMessages, message }) {
  const [line] = (failureMessages?.[0] ?? message).split('\n', 1);
  // All that the report has of a test or a hook that took too long.
  const first = line === 'Error: STACK_TRACE_ERROR' ? 'it took too long' : line;
  return [relative(process.cwd(), name), fullName ?? 'outside of its tests', first]
    .filter(Boolean)
    .join(': ');
}

const { passed, lines, failures } = figures(process.argv[2] ?? '');
for (const line of lines) process.stdout.write(`passed at the second try only: ${line}\n`);
for (const line of failures) process.stdout.write(`failed: ${line}\n`);
process.stdout.write(`${passed} passed, ${failures.length} failed\n`);

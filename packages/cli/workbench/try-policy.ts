// A text tried as a policy: its tests, and what it does otherwise than the file.
import { dirname } from 'node:path';
import {
  type ApiPolicyDiff,
  type ApiPolicyDiffInput,
  type ApiPolicyTestInput,
  type ApiPolicyTests,
  type Failure,
  failure,
  isFailure,
} from '@subluminal/contracts';
import { diffBundles, type Snapshot } from '@subluminal/core/policy';
import type { ProjectPaths } from '@subluminal/core/ports';
import type { PolicyFailure } from '@subluminal/plane/policy/file';
import { loadPolicy as loadSources } from '@subluminal/plane/policy/watch';
import { notAPolicy } from '../policy/file-kind.ts';
import { type Policy, policyFrom } from '../policy/load-policy.ts';
import { runTest, type TestResult, testPaths } from '../policy/run-tests.ts';
import { type PolicyTest, parseTestFile } from '../policy/test-file.ts';
import { testReport } from '../policy/test-reports.ts';
import {
  chosenPolicy,
  currentConfig,
  type KnownPolicy,
  type PolicyPlace,
  rulePaths,
} from './known-policies.ts';
import { testsBeside, textFile } from './show-policy.ts';
import type { Slices } from './slices.ts';

/** Calls of one test are decided in one go, so a test must not hold the daemon up. */
const CALLS_PER_TEST_MAX = 1_000;

/** A text as a policy that is ready to decide. */
export async function compiledText(text: string, paths: ProjectPaths): Promise<Snapshot | Failure> {
  const file = textFile(text);
  const policy: Policy | PolicyFailure = notAPolicy(file) ?? (await policyFrom(file, { paths }));
  if (!isFailure(policy)) return policy.snapshot;
  const { code, message, fix, problems: [first] = [] } = policy;
  if (first === undefined) return failure(code, message, fix);
  const { line, column } = first.position;
  return failure(code, `${message} Line ${line}, column ${column}: ${first.message}.`, first.fix);
}

/** The policy that is meant, and where it is. */
export async function findKnown(
  path: string | undefined,
  place: PolicyPlace,
): Promise<KnownPolicy | Failure> {
  const config = await currentConfig(place);
  return isFailure(config) ? config : chosenPolicy(path, place, config);
}

/** The policy of a file; where there is none, everything passes and is recorded. */
export async function compiledFile(
  known: KnownPolicy,
  place: PolicyPlace,
  folder?: string,
): Promise<Snapshot | Failure> {
  const { path: name, bytes, unread } = known;
  if (unread !== undefined) return unread;
  if (bytes === null) {
    const none = await loadSources([], 'production');
    return isFailure(none) ? none : none.snapshot;
  }
  const file = { kind: 'file', name, bytes } as const;
  const policy =
    notAPolicy(file) ?? (await policyFrom(file, { paths: rulePaths(known, place, folder) }));
  if (!isFailure(policy)) return policy.snapshot;
  return failure(policy.code, policy.message, policy.fix);
}

export async function diffText(
  { text, path }: ApiPolicyDiffInput,
  place: PolicyPlace,
): Promise<ApiPolicyDiff | Failure> {
  const known = await findKnown(path, place);
  if (isFailure(known)) return known;
  const before = await compiledFile(known, place);
  if (isFailure(before)) return before;
  const after = await compiledText(text, rulePaths(known, place));
  if (isFailure(after)) return after;
  const diff = diffBundles(before.document, after.document);
  return { path: known.bytes === null ? null : known.path, ...diff };
}

/** Throws the failure of tests that cannot be read. */
export async function testText(
  { text, tests: given, path }: ApiPolicyTestInput,
  place: PolicyPlace,
  slices: Slices,
): Promise<ApiPolicyTests | Failure> {
  const known = await findKnown(path, place);
  if (isFailure(known)) return known;
  const beside = given === undefined ? testsBeside(known) : null;
  const source = given ?? beside?.text;
  if (source === undefined) {
    const fix = 'Write some: docs/reference/cli.md says how, at `sub policy test`.';
    return failure('SUB_API_NOT_FOUND', `there are no tests beside ${known.path}.`, fix);
  }
  const cwd = dirname(known.path);
  const snapshot = await compiledText(text, testPaths(cwd));
  if (isFailure(snapshot)) return snapshot;
  const file = beside?.path ?? 'tests.yaml';
  const { tests } = parseTestFile(textFile(source, file));
  const results: TestResult[] = [];
  for (const test of tests) {
    if (callsOf(test) > CALLS_PER_TEST_MAX)
      return tooMuch(`the test "${test.name}" has too many calls.`);
    if (slices.isLate) return tooMuch('the tests take too long.');
    results.push(await runTest(test, snapshot, { file, policyFile: known.path, cwd }));
    await slices.pause();
  }
  const report = testReport(results);
  const views = report.tests.map(({ file: _file, ...rest }) => rest);
  return { file: beside?.path ?? null, tests: views, summary: report.summary };
}

function callsOf({ calls }: PolicyTest): number {
  return calls.reduce((sum, { repeat }) => sum + repeat, 0);
}

function tooMuch(message: string): Failure {
  return failure('SUB_API_LIMIT', message, 'Run them with `sub policy test`.');
}

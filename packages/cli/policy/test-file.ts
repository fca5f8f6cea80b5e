// Expectations beside a policy: calls, and what the policy must say about the last of them.
import { check, type Failure, failure } from '@subluminal/contracts';
import {
  type Position,
  readSource,
  type SourceTree,
  treeAt,
  treeValue,
} from '@subluminal/core/policy';
import { choice, closed, list, may, must } from '@subluminal/core/section-shape';
import { badUsage, orThrow } from '../input/command.ts';
import { didYouMean } from '../input/guess.ts';
import { cliReference } from '../input/package-file.ts';
import type { FileBytes } from '../input/read-file.ts';
import { type PlannedCall, parseCalls, wordAt } from './call-file.ts';

/** What a policy may say; a call that a person must approve is `ASK`. */
export const OUTCOMES = [
  'ALLOW',
  'ASK',
  'BLOCK',
  'REJECT_WITH_HINT',
  'THROTTLE',
  'TERMINATE_RUN',
] as const;
export type TestOutcome = (typeof OUTCOMES)[number];

export interface Expectation {
  readonly decision: TestOutcome;
  /** The rule that decides; null when none does. */
  readonly rule?: string | null;
  readonly reason_code?: string;
  /** Part of the hint. */
  readonly hint?: string;
}

export interface PolicyTest {
  readonly name: string;
  readonly position: Position;
  readonly calls: readonly PlannedCall[];
  readonly expect: Expectation;
}

export interface TestFile {
  /** Where the policy is, from the folder of the test file. */
  readonly policy: string;
  readonly tests: readonly PolicyTest[];
}

const TESTS_MAX = 10_000;
const TEXT = { kind: 'string', lengthMin: 1, lengthMax: 1_024 } as const;
const JSON_VALUE = { kind: 'json' } as const;

const EXPECT = closed({
  decision: must(choice(...OUTCOMES)),
  rule: may({ kind: 'nullable', inner: TEXT }),
  reason_code: may(TEXT),
  hint: may(TEXT),
});

const TEST = closed({
  name: must(TEXT),
  call: may(JSON_VALUE),
  calls: may(list(JSON_VALUE, TESTS_MAX, 1)),
  expect: must(EXPECT),
});

const TEST_FILE = closed({ policy: must(TEXT), tests: must(list(TEST, TESTS_MAX, 1)) });

interface WrittenTest {
  readonly name: string;
  readonly call?: unknown;
  readonly calls?: readonly unknown[];
  readonly expect: Expectation;
}

const IDENTITY = { run_id: 'test', agent_id: 'agent', client: 'custom', env: 'dev' } as const;

/** Reads a file of tests; throws the failure of a wrong one, with its place. */
export function parseTestFile({ name, bytes }: FileBytes): TestFile {
  const read = readSource({ file: name, bytes });
  if (!read.ok) {
    const [first] = read.problems;
    const place = `${name}:${first?.position.line ?? 1}:${first?.position.column ?? 1}`;
    return orThrow(failure('SUB_USAGE', `${place}: ${first?.message ?? ''}.`, first?.fix ?? ''));
  }
  const value = treeValue(read.tree);
  if (!isTestFile(value)) return orThrow(wrongFile(value, name, read));
  const tests = value.tests.map((test, index): PolicyTest => {
    const position = read.positionAt(treeAt(read.tree, ['tests', index]).tree.offset);
    const at = `${name}:${position.line}`;
    return { name: test.name, position, calls: callsOf(test, at), expect: test.expect };
  });
  return { policy: value.policy, tests };
}

function callsOf({ name, call, calls }: WrittenTest, at: string): readonly PlannedCall[] {
  if ((call === undefined) === (calls === undefined)) {
    const fix = 'Give `call`, or `calls` for several in a row.';
    return orThrow(badUsage(`${at}: the test "${name}" needs either a call or calls.`, fix));
  }
  return parseCalls({ name: at, text: JSON.stringify(call ?? calls), identity: IDENTITY });
}

function isTestFile(
  value: unknown,
): value is { readonly policy: string; readonly tests: readonly WrittenTest[] } {
  return check(TEST_FILE, value).length === 0;
}

function wrongFile(value: unknown, name: string, { tree, positionAt }: SourceTree): Failure {
  const mismatches = check(TEST_FILE, value);
  const mismatch = mismatches.find(({ problem }) => problem === 'unknown') ?? mismatches[0];
  if (mismatch === undefined) throw new Error('a test file is wrong, but nothing in it is');
  const { path, expected, got, choices } = mismatch;
  const { line, column } = positionAt(treeAt(tree, path).keyOffset);
  const message = `${name}:${line}:${column}: at ${path.join('.') || 'the top'}: expected ${expected}, got ${got}.`;
  const help = `See ${cliReference()} for what a file of tests holds.`;
  return badUsage(message, didYouMean(wordAt(value, mismatch), choices, help));
}

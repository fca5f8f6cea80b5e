import { expect, test } from 'vitest';
import { bundleText, NO_CHECKS, sampleRule } from '../testing/sample-bundle.ts';
import { parseBundle } from './parse.ts';

function parse(text: string) {
  return parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
}

const GOOD = bundleText(sampleRule('deny', { match: '{ tool_name: { glob: [shell] } }' }));

/** The fix of each problem. */
function fixes(text: string): readonly string[] {
  return parse(text).problems.map(({ fix }) => fix);
}

test.each([
  ['mode: control', 'mode: control\ndecision_on_error: BLOCK', 'Indent it below `defaults`.'],
  ['selectors: {}', 'selectors:\nenv: [dev]', 'Indent it below `selectors`.'],
  [
    'defaults: { decision_on_error: BLOCK }',
    'defaults:\ndecision_on_error: BLOCK',
    'Indent it below `defaults`.',
  ],
  [
    'defaults: { decision_on_error: BLOCK }',
    'decision_on_error: BLOCK',
    'Indent it below `defaults`.',
  ],
  ['    match: {', '    tool_name: { glob: [a] }\n    match: {', 'Indent it below `match`.'],
])('the fix names the place where a field belongs: %#', (good, bad, fix) => {
  const text = GOOD.replace(good, bad);
  expect(text).not.toBe(GOOD);
  expect(fixes(text)).toEqual([fix]);
});

test('the fix is to move a field where nothing is indented', () => {
  const text = '{"defaults": {}, "decision_on_error": "BLOCK"}';
  expect(fixes(text)).toContain('Move it into `defaults`.');
});

test.each([
  ['    match:', '    mtach:', 'Rename it to `match`.'],
  ['    match:', '    filter:', 'Rename it if it is meant as `match`, else remove it.'],
  ['policy_id: sample', 'name: sample', 'Rename it to `policy_id`.'],
  ['rule_id: deny', 'id: deny', 'Rename it to `rule_id`.'],
  ['    severity', '    condition: "true"\n    severity', 'Rename it to `when`.'],
  ['{ tool_name: {', '{ tools: {', 'Rename it to `tool_name`.'],
  ['{ tool_name: {', '{ colour: {', 'Use one of these fields.'],
  ['    severity', '    colour: red\n    severity', 'Remove it.'],
])('the fix for an unknown field: %#', (good, bad, fix) => {
  const text = GOOD.replace(good, bad);
  expect(text).not.toBe(GOOD);
  expect(fixes(text)).toContain(fix);
  expect(fixes(text).filter((other) => other === 'Remove it.')).toHaveLength(
    fix === 'Remove it.' ? 1 : 0,
  );
});

test.each([
  ['{ tool_name: delete_* }', 'Write `tool_name: { glob: ["delete_*"] }`.'],
  ['{ server_name: [a, b] }', 'Write `server_name: { glob: ["a", "b"] }`.'],
  ['shell', 'Write `match: { tool_name: { glob: ["shell"] } }`.'],
  ['{ args: x }', 'Write it as `name: value` lines below the field.'],
])('the fix shows how to match %s', (match, fix) => {
  expect(fixes(bundleText(sampleRule('deny', { match })))).toEqual([fix]);
});

test('an error names the limit on rules', () => {
  const rules = Array.from({ length: 1_001 }, (_, index) =>
    sampleRule('deny', { id: `r${index}` }),
  );
  expect(parse(bundleText(rules.join(''))).problems).toMatchObject([
    {
      code: 'SUB_BUNDLE_TOO_LARGE',
      message: '`rules` has 1001 items, and may have at most 1000',
      fix: 'Split the bundle.',
    },
  ]);
});

test.each([
  ['a text', 'hello', 'but this file holds `"hello"`', 'Start with `policy_id: my-policy`.'],
  ['a list', '- a', 'but this file holds a list', 'put the rules in a list below `rules:`.'],
  ['a list of rules', '- rule_id: r', 'holds a list', 'put the rules in a list below `rules:`.'],
])('a file that holds %s gets its own sentence', (_, text, message, fix) => {
  const [problem, ...others] = parse(text).problems;
  expect(problem?.message).toMatch(/^a bundle is an object with `policy_id`/);
  expect(problem?.message).toContain(message);
  expect(problem?.fix).toContain(fix);
  expect(others).toEqual([]);
});

test.each([
  ['kind: deny', 'kind: block', 'unknown kind `block`; did you mean `deny`?'],
  ['kind: deny', 'kind: forbid', 'unknown kind `forbid`; did you mean `deny`?'],
  ['kind: deny', 'kind: ask', 'unknown kind `ask`; did you mean `approval`?'],
  [
    'kind: deny',
    'kind: circuit-breaker',
    'unknown kind `circuit-breaker`; did you mean `breaker`?',
  ],
  ['severity: warn', 'severity: high', 'unknown severity `high`; did you mean `critical`?'],
])('the words of other tools are known: %#', (good, bad, message) => {
  const text = GOOD.replace(good, bad);
  expect(text).not.toBe(GOOD);
  expect(parse(text).problems.map((problem) => problem.message)).toEqual([message]);
});

test.each(['DENY', 'deny'])('the action %s is BLOCK', (action) => {
  const effect = `{ budget: { scope: run, limit_calls: 5, on_exceed: ${action} } }`;
  expect(fixes(bundleText(sampleRule('budget', { effect })))).toEqual([
    'Write `on_exceed: BLOCK`.',
  ]);
});

test.each([
  ['[resources]', '[resource]'],
  ['[tool, promt]', '[tool, prompt]'],
])('the fix of a wrong item in `subjects: %s` is a list', (subjects, fixed) => {
  const text = bundleText(sampleRule('deny', { match: `{ subjects: ${subjects} }` }));
  expect(fixes(text)).toEqual([`Write \`subjects: ${fixed}\`.`]);
});

test('an unknown mode is answered with what each mode does', () => {
  const [problem] = parse(GOOD.replace('mode: control', 'mode: enforce')).problems;
  expect(problem?.message).toBe(
    'unknown mode `enforce`; `observe` only records what it would refuse, `guardrails` refuses, `control` refuses, asks people and sends hints',
  );
  expect(problem?.fix).toBe('Write `mode: guardrails`.');
  expect(fixes(GOOD.replace('mode: control', 'mode: purple'))).toEqual(['Use one of them.']);
});

test.each([
  ['timeout_ms: 5m', 'Write `timeout_ms: 300000`: durations are in milliseconds.'],
  ['timeout_ms: "1.5 hours"', 'Write `timeout_ms: 5400000`: durations are in milliseconds.'],
  ['timeout_ms: soon', 'Write a number.'],
  ['timeout: 5m', 'Write `timeout_ms: 300000`: durations are in milliseconds.'],
  ['timeout: 300', 'Rename it to `timeout_ms`, which is in milliseconds.'],
])('the fix for the duration %s is a number of milliseconds', (field, fix) => {
  const effect = `{ approval: { wait: hold, ${field} } }`;
  expect(fixes(bundleText(sampleRule('approval', { effect })))).toEqual([fix]);
});

import { expect, test } from 'vitest';
import { bundleText, sampleRule } from '../testing/sample-bundle.ts';
import { loadPatternChecks, parseBundle } from './parse.ts';

const checks = await loadPatternChecks();

/** The advice on a condition: its place, its reason and its fix. */
function said(source: string): string {
  const fault = checks.when(source);
  if (fault === undefined || typeof fault === 'string') return String(fault);
  return `${fault.offset}: ${fault.message}. ${fault.fix}`;
}

test.each([
  ['call.tool_name = "x"', '15: unexpected `=`. Write `==` to compare.'],
  ['call.tool_name === "x"', '17: unexpected `=`. Write `==`.'],
  ['call.tool_name !== "x"', '17: unexpected `=`. Write `!=`.'],
  ['call.tool_name <> "x"', '16: unexpected `>`. Write `!=`.'],
  ['call.tool_name =~ "x"', "15: unexpected `=`. Write `x.matches('…')`."],
  ['true and false', '5: unexpected `and`. Write `&&` instead of `and`.'],
  ['true OR false', '5: unexpected `OR`. Write `||` instead of `or`.'],
  ['not true', '4: unexpected `true`. Write `!` instead of `not`.'],
  ['not (true)', '0: there is no function `not`. Write `!` instead of `not`.'],
  ['true & false', '5: unexpected `&`. Write `&&`.'],
  ['call.tool_name == “x”', '18: unexpected `“`. Use straight quotes.'],
  ['true)', '4: unexpected `)`. Remove the `)`, or add its `(`.'],
  ['(true', '5: a `)` is missing at the end. Add the `)`.'],
  ['call.tool_name ==', '17: it ends too early. Complete the condition.'],
  ['call.tool_name == "x', '18: unterminated string. Close the quote.'],
])('the advice names the operator that was meant in %s', (source, words) => {
  expect(said(source)).toBe(words);
});

test.each([
  ['tool_name == "x"', '0: unknown variable `tool_name`. Write `call.tool_name`.'],
  ['server_name == "x"', '0: unknown variable `server_name`. Write `call.server_name`.'],
  ['agent_id == "x"', '0: unknown variable `agent_id`. Write `identity.agent_id`.'],
  ['env == "x"', '0: unknown variable `env`. Write `identity.env`.'],
  ['arg.x == 1', '0: unknown variable `arg`. Write `args`.'],
  ['tol_name == "x"', '0: unknown variable `tol_name`. Write `call.tool_name`.'],
  ['args.x == True', '10: unknown variable `True`. Write `true`.'],
  [
    'call.tool_name == shell',
    '18: unknown variable `shell`. Put quotes around it if it is text; else use `call`, `identity` or `args`.',
  ],
  ['request.x == 1', '0: unknown variable `request`. Use `call`, `identity` or `args`.'],
  ['call.tol_name == "x"', '5: `call` has no `tol_name`. Write `call.tool_name`.'],
  ['call.tool == "x"', '5: `call` has no `tool`. Write `call.tool_name`.'],
  ['identity.environment == "x"', '9: `identity` has no `environment`. Write `identity.env`.'],
  [
    'call.colour == "x"',
    '5: `call` has no `colour`. Use one of its fields: server_name, tool_name, args_hash, bytes_in, risk_class.',
  ],
])('the advice names the variable or field that was meant in %s', (source, words) => {
  expect(said(source)).toBe(words);
});

test.each([
  ['call.tool_name.startswith("x")', "Write `.startsWith('…')`."],
  ['call.tool_name.ends_with("x")', "Write `.endsWith('…')`."],
  ['call.tool_name.includes("x")', "Write `.contains('…')`."],
  ['call.tool_name.toLowerCase() == "x"', 'Write `.lowerAscii()`.'],
  ['call.tool_name.length() == 1', 'Write `.size()`.'],
  ['call.tool_name.length == 1', 'A string has no fields; for its length write `.size()`.'],
  ['len(args) == 1', 'Write `size(…)`.'],
  ['matches(call.tool_name, "x")', "Write `call.tool_name.matches('…')`."],
  ['startsWith("x" + "y", "x")', "Write `x.startsWith('…')`."],
  ['call.tool_name.matches(args.p)', "Write the pattern out, like `x.matches('^a')`."],
  ['call.tool_name.matches("(")', 'Write the pattern in RE2 syntax.'],
  ['call.risk_class.contains("x")', 'Write `value in list`.'],
  ['call.risk_class.includes("x")', 'Write `value in list`.'],
  ['args.has("x")', 'Write `has(args.key)`, or `"key" in args`.'],
  ['has(args)', 'Name a field, like `has(args.path)`.'],
  ['call.tool_name in "x"', "Write a list behind `in`, or `x.contains('…')`."],
  ['call.bytes_in > "1"', 'Compare values of the same type; text needs quotes, numbers have none.'],
  ['call.tool_name', 'Compare it with something, so that it gives true or false.'],
])('the advice names the method or value that was meant in %s', (source, fix) => {
  expect(said(source)).toMatch(/^\d+: [^A-Z]/);
  expect(said(source).endsWith(`. ${fix}`)).toBe(true);
});

test('the advice lists the methods when none is near', () => {
  expect(said('args.x.frobnicate()')).toMatch(
    /^\d+: there is no method `frobnicate`\. Use one of .*startsWith/,
  );
});

test('the parser reports a wrong condition with its place in the file', () => {
  const text = bundleText(sampleRule('deny', { when: 'true and tool_name == "x"' }));
  expect(parseBundle({ file: 'p.yaml', text }, { checks }).problems).toMatchObject([
    {
      code: 'SUB_BUNDLE_WHEN',
      position: { line: 11, column: 16 },
      message: 'invalid condition: unexpected `and`',
      fix: 'Write `&&` instead of `and`.',
    },
  ]);
});

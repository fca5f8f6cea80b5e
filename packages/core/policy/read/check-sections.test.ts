import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from '../../patterns/glob.ts';
import { formatProblem } from '../../source/problem.ts';
import { compileTaint } from '../../taint/compile-policy.ts';
import { normalizeBundle } from '../compile/normalize.ts';
import { bundleText, NO_CHECKS, sampleRule } from '../testing/sample-bundle.ts';
import { parseBundle } from './parse.ts';

const CHECKS = {
  ...NO_CHECKS,
  glob: (source: string) => {
    const compiled = compileGlob(source);
    return compiled.ok ? undefined : { message: compiled.message, offset: compiled.offset };
  },
};

/** The sections stand below the rules; the first of their lines is line 13. */
function parse(sections: string) {
  const text = `${bundleText(sampleRule('deny'))}${sections}`;
  return parseBundle({ file: 'p.yaml', text }, { checks: CHECKS });
}

function problemsOf(sections: string): readonly string[] {
  return parse(sections).problems.map(formatProblem);
}

describe('a bundle with sections', () => {
  it('is read with all their fields', () => {
    const parsed = parse(`content:
  outbound: { secret: ask }
  max_result_chars: 5000
  suppressions:
    - { rule: iban, server: bank, tool: list, fingerprint: f, expires: "2027-01-01T00:00:00Z" }
taint:
  on_taint: block
  allow: { emails: ["*@corp.example"] }
  approval: { wait: hint }
`);
    if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
    expect(parsed.bundle).toMatchObject({
      content: { outbound: { secret: 'ask' }, suppressions: [{ rule: 'iban' }] },
      taint: { on_taint: 'block', approval: { wait: 'hint' } },
    });
  });

  it.each([
    [
      'content:\n  outbond: { secret: tag }',
      'p.yaml:14:3: error: unknown field `outbond`; did you mean `outbound`? Rename it to `outbound`. [SUB_BUNDLE_UNKNOWN_FIELD]',
    ],
    [
      'content: { outbound: { pii: tag } }',
      'p.yaml:13:24: error: unknown field `pii`; did you mean `personal`? Rename it to `personal`. [SUB_BUNDLE_UNKNOWN_FIELD]',
    ],
    [
      'content: { outbound: { secret: blok } }',
      'p.yaml:13:32: error: unknown action `blok`; did you mean `block`? Write `secret: block`. [SUB_BUNDLE_VALUE]',
    ],
    [
      'content: { definitions: { injection: redact } }',
      'p.yaml:13:38: error: unknown action `redact`; expected one of allow, tag, block. Use one of them. [SUB_BUNDLE_VALUE]',
    ],
    [
      'content: { max_result_chars: "5000" }',
      'p.yaml:13:30: error: expected a whole number from 1 to 1000000000, got `"5000"`. Remove the quotes. [SUB_BUNDLE_TYPE]',
    ],
    [
      'content: { suppressions: [{ rule: iban, server: bank, tool: "*", fingerprint: f, expires: "2027-01-01T00:00:00Z" }] }',
      'p.yaml:13:61: error: a suppression is for one tool, but `*` looks like a pattern. Write one suppression for each finding, with its names in full. [SUB_BUNDLE_VALUE]',
    ],
    [
      'content: { suppressions: [{ rule: iban, server: bank, tool: list, fingerprint: f }] }',
      'p.yaml:13:27: error: missing `expires`, an RFC 3339 time in UTC, like 2026-01-31T12:00:00Z. Add `expires: "2030-01-31T00:00:00Z"`. [SUB_BUNDLE_MISSING_FIELD]',
    ],
    [
      'taint: { on_tain: ask }',
      'p.yaml:13:10: error: unknown field `on_tain`; did you mean `on_taint`? Rename it to `on_taint`. [SUB_BUNDLE_UNKNOWN_FIELD]',
    ],
    [
      'taint: { allow: { domains: [a] } }',
      'p.yaml:13:19: error: unknown field `domains`; did you mean `hosts`? Rename it to `hosts`. [SUB_BUNDLE_UNKNOWN_FIELD]',
    ],
    [
      'taint: { sinks: [{ args: [to] }] }',
      'p.yaml:13:18: error: missing `kind`, one of recipient, url, path, command, id. Add `kind: recipient`. [SUB_BUNDLE_MISSING_FIELD]',
    ],
    [
      'taint: { sinks: [{ kind: adress, args: [to] }] }',
      'p.yaml:13:26: error: unknown kind `adress`; expected one of recipient, url, path, command, id. Use one of them. [SUB_BUNDLE_VALUE]',
    ],
    [
      'taint: { rule_of_two: { tools: [] } }',
      'p.yaml:13:23: error: missing `mode`, one of ask, block, off. Add `mode: ask`. [SUB_BUNDLE_MISSING_FIELD]',
    ],
    [
      'taint: { allow: { hosts: ["{a"] } }',
      'p.yaml:13:28: error: invalid glob `{a`: a `{` without its `}`. Use `*`, `?`, `[a-z]` or `{one,two}`, and `\\` before a sign that is meant as is. [SUB_BUNDLE_GLOB]',
    ],
    [
      'taint: [ask]',
      'p.yaml:13:8: error: expected an object, got a list of 1. Write it as `name: value` lines below the field. [SUB_BUNDLE_TYPE]',
    ],
  ])('gets an error for %s', (sections, expected) => {
    expect(problemsOf(sections)).toEqual([expected]);
  });

  it.each([
    ['sinks: [{ kind: path, args: ["[_]"] }]', 'taint.sinks[0].args[0]'],
    [
      'sinks: [{ kind: path, args: [a] }, { kind: url, args: [b, "x\\\\-"] }]',
      'taint.sinks[1].args[1]',
    ],
    ['allow: { hosts: [a, "[Z-a]"] }', 'taint.allow.hosts[1]'],
  ])('is refused for a glob that is invalid once it is folded: %s', (field, path) => {
    const { ok, problems } = parse(`taint: { ${field} }`);
    expect(ok).toBe(false);
    expect(problems.map((problem) => [problem.code, problem.path])).toEqual([
      ['SUB_BUNDLE_GLOB', path],
    ]);
  });

  it.each(['gate:content', 'cedar:policy0', 'GATE:x'])('keeps %s for others', (id) => {
    const text = bundleText(sampleRule('deny', { id: `"${id}"` }));
    const { problems } = parseBundle({ file: 'p.yaml', text }, { checks: CHECKS });
    expect(problems).toMatchObject([{ code: 'SUB_BUNDLE_VALUE', path: 'rules[0].rule_id' }]);
  });

  it('is read when a rule id has `gate` behind its start', () => {
    const text = bundleText(sampleRule('deny', { id: '"my-gate:1"' }));
    expect(parseBundle({ file: 'p.yaml', text }, { checks: CHECKS }).ok).toBe(true);
  });

  it('is read, or refused with errors, whatever its globs are', () => {
    const glob = fc.array(fc.constantFrom('a', 'Z', '_', '-', '[', ']', '{', ',', '}', '*', '\\'), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(glob, glob, (left, right) => {
        const args = JSON.stringify([left.join('')]);
        const hosts = JSON.stringify([right.join('')]);
        const parsed = parse(
          `taint: { sinks: [{ kind: url, args: ${args} }], allow: { hosts: ${hosts} } }`,
        );
        // A glob that was not refused, and can't be used, throws here.
        if (parsed.ok) compileTaint(normalizeBundle(parsed.bundle).taint);
        const codes = parsed.ok ? ['SUB_BUNDLE_GLOB'] : parsed.problems.map(({ code }) => code);
        expect(new Set(codes)).toEqual(new Set(['SUB_BUNDLE_GLOB']));
      }),
    );
  });
});

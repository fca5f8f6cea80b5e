import { describe, expect, it } from 'vitest';
import { parseWhen } from '../match/when.ts';
import { parseBundle } from '../read/parse.ts';
import { bundleText, NO_CHECKS, sampleRule } from '../testing/sample-bundle.ts';
import { lintBundle } from './lint.ts';

const NOW_MS = Date.parse('2027-01-01T00:00:00Z');

function lint(sections: string, mode = 'control'): readonly string[] {
  const text = `${bundleText(sampleRule('deny'), { mode })}${sections}`;
  const parsed = parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('\n'));
  const advice = lintBundle(parsed.bundle, parsed.positionOf, {
    file: 'p.yaml',
    nowMs: NOW_MS,
    parseWhen,
  });
  return advice
    .filter(({ path }) => path !== 'mode')
    .map(({ level, code, path }) => `${level} ${code} ${path}`);
}

function suppressed(parts: { rule?: string; expires?: string }): string {
  const { rule = 'iban', expires = '2027-06-01T00:00:00Z' } = parts;
  const what = `rule: ${rule}, server: bank, tool: list, fingerprint: f`;
  return `content: { suppressions: [{ ${what}, expires: "${expires}" }] }`;
}

const THREE = ['untrusted_input', 'private_data', 'egress_or_change'];
const tools = (...flags: string[]) => flags.map((flag) => `{ adds: [${flag}] }`).join(', ');

describe('lint of the sections', () => {
  it.each([
    ['content: {}', 'observe', ['warning SUB_LINT_OBSERVE content']],
    ['taint: {}', 'observe', ['warning SUB_LINT_OBSERVE taint']],
    ['content: {}\ntaint: { on_taint: block }', 'guardrails', []],
    ['content: {}\ntaint: {}', 'control', []],
    [
      'content: { outbound: { secret: ask }, unscanned: ask }',
      'guardrails',
      [
        'warning SUB_LINT_APPROVAL_MODE content.outbound.secret',
        'warning SUB_LINT_APPROVAL_MODE content.unscanned',
      ],
    ],
    // By default, taint asks.
    ['taint: {}', 'guardrails', ['warning SUB_LINT_APPROVAL_MODE taint.on_taint']],
  ])('of %s in %s mode gives %j', (sections, mode, expected) => {
    expect(lint(sections, mode)).toEqual(expected);
  });

  it.each([
    ['is fine', suppressed({}), []],
    [
      'has expired',
      suppressed({ expires: '2027-01-01T00:00:00Z' }),
      ['warning SUB_LINT_SUPPRESSION content.suppressions[0].expires'],
    ],
    [
      'lasts too long',
      suppressed({ expires: '2028-06-01T00:00:00Z' }),
      ['warning SUB_LINT_SUPPRESSION content.suppressions[0].expires'],
    ],
    ['lasts for a year', suppressed({ expires: '2028-01-01T00:00:00Z' }), []],
    [
      'names no rule',
      suppressed({ rule: 'ibann' }),
      ['warning SUB_LINT_SUPPRESSION content.suppressions[0].rule'],
    ],
  ])('of a suppression that %s', (_, sections, expected) => {
    expect(lint(sections)).toEqual(expected);
  });

  it.each([
    ['mode: ask', 1],
    [`mode: block, tools: [${tools(...THREE.slice(0, 2))}]`, 1],
    [`mode: ask, tools: [${tools(...THREE)}]`, 0],
    // Answers that are not trusted bring the first by themselves.
    [`mode: ask, tools: [${tools(...THREE.slice(1))}]`, 0],
    ['mode: "off"', 0],
  ])('of the rule of two with %s finds %i', (rule, count) => {
    const found = lint(`taint: { rule_of_two: { ${rule} } }`);
    expect(found).toEqual(
      Array(count).fill('warning SUB_LINT_RULE_OF_TWO taint.rule_of_two') as string[],
    );
  });

  it.each([
    ['default_trust: trusted', 1],
    ['default_trust: trusted, sources: [{ server: web, trust: untrusted }]', 0],
    ['sources: [{ trust: trusted }]', 1],
    ['sources: [{ trust: trusted }, { server: web, trust: untrusted }]', 1],
    ['sources: [{ server: web, trust: untrusted }, { server: "*", trust: trusted }]', 0],
    ['sources: [{ server: crm, trust: trusted }]', 0],
  ])('of the rule of two whose untrusted input comes by { %s } finds %i', (sources, count) => {
    const rule = `rule_of_two: { mode: ask, tools: [${tools(...THREE.slice(1))}] }`;
    expect(lint(`taint: { ${sources}, ${rule} }`)).toHaveLength(count);
  });

  it('finds text in sections that is not what it seems', () => {
    expect(lint('taint: { allow: { hosts: ["ex\u0430mple.com"] } }')).toEqual([
      'warning SUB_LINT_HIDDEN_TEXT taint.allow.hosts[0]',
    ]);
  });

  it('does not warn that every call passes when a bundle has sections and no rules', () => {
    const text = `${bundleText('  []')}\ncontent: {}\n`;
    const parsed = parseBundle({ file: 'p.yaml', text }, { checks: NO_CHECKS });
    if (!parsed.ok) throw new Error('it is valid');
    const place = { file: 'p.yaml', nowMs: NOW_MS, parseWhen };
    expect(lintBundle(parsed.bundle, parsed.positionOf, place)).toEqual([]);
  });
});

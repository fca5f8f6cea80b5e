import type { Bundle, ContentSection, TaintSection } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { normalizeBundle } from '../compile/normalize.ts';
import { diffBundles } from './diff.ts';
import { formatDiff } from './format-diff.ts';

type Sections = Pick<Bundle, 'content' | 'taint' | 'commands'> &
  Partial<Pick<Bundle, 'mode' | 'rules'>>;

function policy(sections: Sections) {
  return normalizeBundle({
    policy_id: 'p',
    version: '1',
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [],
    ...sections,
  });
}

function effectsOf(before: Sections, after: Sections): readonly string[] {
  const { changes } = diffBundles(policy(before), policy(after));
  return changes
    .filter(({ path }) => path !== 'version')
    .map(({ path, effect }) => `${path}: ${effect}`);
}

const REVERSED = { loosens: 'tightens', tightens: 'loosens', mixed: 'mixed' } as const;
type Way = keyof typeof REVERSED;

const silenced = {
  rule: 'aws-access-key',
  server: 'github',
  tool: 'get_file',
  fingerprint: 'f',
  expires: '2027-01-01T00:00:00Z',
};
const later = { ...silenced, expires: '2027-06-01T00:00:00Z' };

const CONTENT: readonly (readonly [string, Way, ContentSection, ContentSection])[] = [
  ['outbound.secret', 'loosens', {}, { outbound: { secret: 'ask' } }],
  [
    'outbound.secret',
    'loosens',
    { outbound: { secret: 'ask' } },
    { outbound: { secret: 'redact' } },
  ],
  [
    'outbound.secret',
    'loosens',
    { outbound: { secret: 'redact' } },
    { outbound: { secret: 'tag' } },
  ],
  ['outbound.personal', 'loosens', {}, { outbound: { personal: 'allow' } }],
  ['outbound.injection', 'tightens', {}, { outbound: { injection: 'tag' } }],
  ['inbound.secret', 'loosens', {}, { inbound: { secret: 'tag' } }],
  ['inbound.hidden_text', 'tightens', {}, { inbound: { hidden_text: 'ask' } }],
  ['definitions.injection', 'loosens', {}, { definitions: { injection: 'tag' } }],
  ['confidence_min', 'loosens', {}, { confidence_min: 'certain' }],
  ['confidence_min', 'tightens', {}, { confidence_min: 'hint' }],
  ['block_confidence', 'tightens', {}, { block_confidence: 'likely' }],
  ['unscanned', 'tightens', {}, { unscanned: 'block' }],
  ['unscanned', 'loosens', {}, { unscanned: 'tag' }],
  ['unscanned', 'mixed', {}, { unscanned: 'ask' }],
  ['external_content', 'loosens', {}, { external_content: 'off' }],
  ['max_result_chars', 'loosens', {}, { max_result_chars: 200_001 }],
  ['suppressions', 'loosens', {}, { suppressions: [silenced] }],
  ['suppressions', 'loosens', { suppressions: [silenced] }, { suppressions: [later] }],
];

const TAINT: readonly (readonly [string, Way, TaintSection, TaintSection])[] = [
  ['on_taint', 'loosens', { on_taint: 'block' }, { on_taint: 'ask' }],
  ['on_taint', 'loosens', {}, { on_taint: 'tag' }],
  ['default_trust', 'loosens', {}, { default_trust: 'trusted' }],
  ['trusted_clears', 'loosens', {}, { trusted_clears: 'any' }],
  ['default_sinks', 'loosens', {}, { default_sinks: false }],
  ['by_shape', 'loosens', {}, { by_shape: ['url'] }],
  ['by_shape', 'tightens', {}, { by_shape: ['path', 'recipient', 'url'] }],
  ['sources', 'loosens', {}, { sources: [{ server: 'crm', trust: 'trusted' }] }],
  ['sources', 'tightens', {}, { sources: [{ server: 'web', trust: 'untrusted' }] }],
  ['sinks', 'tightens', {}, { sinks: [{ kind: 'path', args: ['file'] }] }],
  [
    'sinks',
    'loosens',
    { sinks: [{ kind: 'path', args: ['file', 'folder'] }] },
    { sinks: [{ kind: 'path', args: ['file'] }] },
  ],
  ['allow.hosts', 'loosens', {}, { allow: { hosts: ['a.example'] } }],
  [
    'allow.emails',
    'loosens',
    { allow: { emails: ['a@b.example'] } },
    { allow: { emails: ['a@b.example', '*'] } },
  ],
  ['rule_of_two.mode', 'loosens', { rule_of_two: { mode: 'ask' } }, {}],
  [
    'rule_of_two.tools',
    'tightens',
    { rule_of_two: { mode: 'ask' } },
    { rule_of_two: { mode: 'ask', tools: [{ adds: ['private_data'] }] } },
  ],
];

describe('a change of the content section', () => {
  it.each(CONTENT)('of %s %s, and the other way back', (path, way, before, after) => {
    const at = `content.${path}`;
    expect(effectsOf({ content: before }, { content: after })).toEqual([`${at}: ${way}`]);
    expect(effectsOf({ content: after }, { content: before })).toEqual([`${at}: ${REVERSED[way]}`]);
  });

  it('is none between asking and blocking where nobody is asked', () => {
    const before = { inbound: { secret: 'ask' } } as const;
    const after = { inbound: { secret: 'block' } } as const;
    expect(effectsOf({ content: before }, { content: after })).toEqual([
      'content.inbound.secret: none',
    ]);
  });

  it('is mixed when one suppression replaces another', () => {
    const other = { ...silenced, fingerprint: 'g' };
    const [before, after] = [{ suppressions: [silenced] }, { suppressions: [other] }];
    expect(effectsOf({ content: before }, { content: after })).toEqual([
      'content.suppressions: mixed',
    ]);
  });
});

describe('a change of the taint section', () => {
  it.each(TAINT)('of %s %s, and the other way back', (path, way, before, after) => {
    const at = `taint.${path}`;
    expect(effectsOf({ taint: before }, { taint: after })).toEqual([`${at}: ${way}`]);
    expect(effectsOf({ taint: after }, { taint: before })).toEqual([`${at}: ${REVERSED[way]}`]);
  });

  it.each<[string, TaintSection, TaintSection]>([
    [
      'sources',
      { sources: [{ server: 'a', trust: 'trusted' }] },
      { sources: [{ server: 'b', trust: 'trusted' }] },
    ],
    [
      'sources',
      {
        sources: [
          { server: 'a', trust: 'trusted' },
          { server: 'b', trust: 'untrusted' },
        ],
      },
      {
        sources: [
          { server: 'b', trust: 'untrusted' },
          { server: 'a', trust: 'trusted' },
        ],
      },
    ],
    [
      'sinks',
      { sinks: [{ kind: 'path', args: ['file'] }] },
      { sinks: [{ kind: 'path', args: ['fil*'] }] },
    ],
    ['allow.urls', { allow: { urls: ['a'] } }, { allow: { urls: ['b'] } }],
  ])('of %s that cannot be compared is not taken for a tightening', (path, before, after) => {
    const mixed = [`taint.${path}: mixed`];
    expect(effectsOf({ taint: before }, { taint: after })).toEqual(mixed);
    expect(effectsOf({ taint: after }, { taint: before })).toEqual(mixed);
  });

  it('of what tools bring is none while the rule of two is off', () => {
    const tools = [{ adds: ['private_data'] }] as const;
    const after = { rule_of_two: { mode: 'off', tools } } as const;
    expect(effectsOf({ taint: {} }, { taint: after })).toEqual(['taint.rule_of_two.tools: none']);
  });
});

describe('a section', () => {
  it.each(['content', 'taint'] as const)(
    '%s that goes loosens, one that comes tightens',
    (name) => {
      expect(effectsOf({ [name]: {} }, {})).toEqual([`${name}: loosens`]);
      expect(effectsOf({}, { [name]: {} })).toEqual([`${name}: tightens`]);
    },
  );

  it.each<[string, Sections]>([
    ['content', { content: { outbound: { secret: 'ask' } } }],
    ['unscanned', { content: { unscanned: 'ask' } }],
    ['taint', { taint: {} }],
    ['rule of two', { taint: { on_taint: 'block', rule_of_two: { mode: 'ask' } } }],
  ])('that asks (%s) makes a change from guardrails to control one that may loosen', (_, asks) => {
    const before: Sections = { ...asks, mode: 'guardrails' };
    expect(effectsOf(before, { ...asks, mode: 'control' })).toEqual(['mode: mixed']);
  });

  it('that asks nobody leaves guardrails and control alike', () => {
    const quiet = { content: {}, taint: { on_taint: 'block' } } as const;
    expect(effectsOf({ ...quiet, mode: 'guardrails' }, { ...quiet, mode: 'control' })).toEqual([
      'mode: none',
    ]);
  });

  it('is described in words', () => {
    const before = { content: {}, taint: { allow: { hosts: ['a.example'] } } };
    const after = {
      content: { outbound: { secret: 'tag' } },
      taint: { allow: { hosts: ['*', 'a.example'] } },
    } as const;
    expect(
      formatDiff(diffBundles(policy(before), policy(after)))
        .split('\n')
        .slice(0, 2),
    ).toEqual([
      '! content.outbound.secret: "block" → "tag"; the action on secrets in calls changes (loosens)',
      '! taint.allow.hosts: ["a.example"] → ["*","a.example"]; the list of allowed hosts is widened (loosens)',
    ]);
  });
});

describe('a change of what happens to commands that are not understood', () => {
  const command = { program: ['rm'] };
  const rules: Bundle['rules'] = [
    {
      rule_id: 'no-rm',
      kind: 'deny',
      enabled: true,
      match: { command },
      effect: { action: 'BLOCK' },
      severity: 'warn',
    },
  ];
  it.each<[NonNullable<Bundle['commands']>, NonNullable<Bundle['commands']>, string[]]>([
    [{ opaque: 'allow' }, { opaque: 'ask' }, ['commands.opaque: tightens']],
    [{ opaque: 'allow' }, {}, ['commands.opaque: tightens']],
    [{ opaque: 'block' }, { opaque: 'ask' }, ['commands.opaque: loosens']],
    [{ opaque: 'ask' }, {}, []],
  ])('from %j to %j is judged: %j', (before, after, expected) => {
    expect(effectsOf({ rules, commands: before }, { rules, commands: after })).toEqual(expected);
  });

  it('comes with the first rule about commands, and does nothing without one', () => {
    expect(effectsOf({}, { rules })).toEqual([
      'commands.opaque: tightens',
      'rules[no-rm]: tightens',
    ]);
    expect(effectsOf({}, { commands: { opaque: 'block' } })).toEqual([]);
  });

  it('is mixed where a mode asks people and the other one does not', () => {
    expect(effectsOf({ rules, mode: 'guardrails' }, { rules, mode: 'control' })).toEqual([
      'mode: mixed',
    ]);
  });
});

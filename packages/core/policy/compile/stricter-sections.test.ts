import {
  CONTENT_DEFAULTS,
  CONTENT_SECTION,
  type FullContentSection,
  type FullTaintSection,
  type Shape,
  TAINT_DEFAULTS,
  TAINT_SECTION,
  unscannedAction,
} from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import { compileTaint } from '../../taint/index.ts';
import { stricterContent, stricterTaint } from './stricter-sections.ts';

type ContentAction = FullContentSection['outbound']['secret'];
const ACTIONS: readonly ContentAction[] = ['allow', 'tag', 'redact', 'ask', 'block'];

const action = fc.constantFrom<ContentAction>('allow', 'tag', 'redact', 'ask', 'block');
const definition = fc.constantFrom('allow' as const, 'tag' as const, 'block' as const);
const four = <V>(value: fc.Arbitrary<V>) =>
  fc.record({ secret: value, personal: value, injection: value, hidden_text: value });
const suppression = fc.constantFrom('one', 'two').map((rule) => {
  return { rule, server: 's', tool: 't', fingerprint: 'f', expires: '2030-01-01T00:00:00Z' };
});
const approval = fc.record({
  wait: fc.constantFrom('hold' as const, 'hint' as const),
  timeout_ms: fc.integer({ min: 1, max: 3 }),
});
const content: fc.Arbitrary<FullContentSection> = fc.record({
  outbound: four(action),
  inbound: four(action),
  definitions: four(definition),
  confidence_min: fc.constantFrom('certain', 'likely', 'hint'),
  block_confidence: fc.constantFrom('certain', 'likely', 'hint'),
  unscanned: fc.constantFrom('allow', 'tag', 'follow', 'ask', 'block'),
  external_content: fc.constantFrom('off', 'mark'),
  max_result_chars: fc.integer({ min: 1, max: 5 }),
  approval,
  suppressions: fc.uniqueArray(suppression, { selector: ({ rule }) => rule }),
});

const glob = fc.constantFrom('a', 'b', '*');
const tools = { server: glob, tool: glob };
const trust = fc.constantFrom('trusted' as const, 'untrusted' as const);
const globs = fc.uniqueArray(glob, { minLength: 1 });
const taint: fc.Arbitrary<FullTaintSection> = fc.record({
  on_taint: fc.constantFrom('ask', 'block', 'tag'),
  sources: fc.array(fc.record({ ...tools, trust }), { maxLength: 4 }),
  default_trust: trust,
  trusted_clears: fc.constantFrom('earlier', 'any'),
  sinks: fc.array(
    fc.record({ kind: fc.constantFrom('url' as const, 'path' as const), args: globs, ...tools }),
    { maxLength: 3 },
  ),
  default_sinks: fc.boolean(),
  by_shape: fc.subarray(['recipient' as const, 'url' as const, 'path' as const]),
  allow: fc.record(
    { emails: globs, hosts: globs, urls: globs, paths: globs, commands: globs },
    { requiredKeys: [] },
  ),
  rule_of_two: fc.record({
    mode: fc.constantFrom('ask', 'block', 'off'),
    tools: fc.array(
      fc.record({
        ...tools,
        adds: fc.subarray(['untrusted_input' as const, 'private_data' as const]),
      }),
      { maxLength: 3 },
    ),
  }),
  approval,
});

/** The paths of a shape down to what is not an object with named fields. */
function leavesOf(shape: Shape, path = ''): readonly string[] {
  if (shape.kind !== 'object') return [path];
  return Object.entries(shape.fields).flatMap(([name, field]) =>
    leavesOf(field.shape, path === '' ? name : `${path}.${name}`),
  );
}

function inOrder<V>(order: readonly V[], mild: V, strict: V): boolean {
  return order.indexOf(strict) >= order.indexOf(mild);
}

/** Redacting and asking exclude each other; every other pair has a stricter one. */
function isActionAsStrict(combined: ContentAction, alone: ContentAction): boolean {
  if (alone === 'redact' && combined === 'ask') return false;
  return inOrder(ACTIONS, alone, combined);
}

const DIRECTIONS = ['outbound', 'inbound', 'definitions'] as const;
const CLASSES = ['secret', 'personal', 'injection', 'hidden_text'] as const;
const NAMES = ['a', 'b', 'c'].flatMap((server) => ['a', 'b'].map((tool) => ({ server, tool })));
const SUBJECTS = ['email', 'host', 'path', 'command'] as const;

/** Per field, whether a combined section is at least as strict as one alone. */
const CONTENT_CHECKS: {
  readonly [K in keyof FullContentSection]: (
    combined: FullContentSection,
    alone: FullContentSection,
  ) => boolean;
} = {
  outbound: (combined, alone) =>
    CLASSES.every((name) => isActionAsStrict(combined.outbound[name], alone.outbound[name])),
  inbound: (combined, alone) =>
    CLASSES.every((name) => isActionAsStrict(combined.inbound[name], alone.inbound[name])),
  definitions: (combined, alone) =>
    CLASSES.every((name) => isActionAsStrict(combined.definitions[name], alone.definitions[name])),
  confidence_min: (combined, alone) =>
    inOrder(['certain', 'likely', 'hint'], alone.confidence_min, combined.confidence_min),
  block_confidence: (combined, alone) =>
    inOrder(['certain', 'likely', 'hint'], alone.block_confidence, combined.block_confidence),
  unscanned: (combined, alone) =>
    DIRECTIONS.every((direction) =>
      inOrder(ACTIONS, unscannedAction(alone, direction), unscannedAction(combined, direction)),
    ),
  external_content: (combined, alone) =>
    inOrder(['off', 'mark'], alone.external_content, combined.external_content),
  max_result_chars: (combined, alone) => combined.max_result_chars <= alone.max_result_chars,
  approval: () => true,
  suppressions: (combined, alone) =>
    combined.suppressions.every(({ rule }) => alone.suppressions.some((one) => one.rule === rule)),
};

const TAINT_CHECKS: {
  readonly [K in keyof FullTaintSection]: (
    combined: FullTaintSection,
    alone: FullTaintSection,
  ) => boolean;
} = {
  on_taint: (combined, alone) =>
    inOrder(['tag', 'ask', 'block'], alone.on_taint, combined.on_taint),
  sources: isTrustedByOne,
  default_trust: isTrustedByOne,
  trusted_clears: (combined, alone) =>
    inOrder(['any', 'earlier'], alone.trusted_clears, combined.trusted_clears),
  sinks: hasSinks,
  default_sinks: hasSinks,
  by_shape: (combined, alone) => alone.by_shape.every((shape) => combined.by_shape.includes(shape)),
  allow: (combined, alone) => {
    const [both, one] = [compileTaint(combined), compileTaint(alone)];
    return SUBJECTS.every((subject) =>
      ['a', 'b', 'c'].every((value) => !both.allows(subject, value) || one.allows(subject, value)),
    );
  },
  rule_of_two: (combined, alone) => {
    const [both, one] = [compileTaint(combined), compileTaint(alone)];
    const isAsStrict = inOrder(['off', 'ask', 'block'], one.ruleOfTwo, both.ruleOfTwo);
    return (
      isAsStrict &&
      NAMES.every((name) => [...one.flagsOf(name)].every((flag) => both.flagsOf(name).has(flag)))
    );
  },
  approval: () => true,
};

function isTrustedByOne(combined: FullTaintSection, alone: FullTaintSection): boolean {
  const [both, one] = [compileTaint(combined), compileTaint(alone)];
  return NAMES.every((name) => both.trustOf(name) !== 'trusted' || one.trustOf(name) === 'trusted');
}

function hasSinks(combined: FullTaintSection, alone: FullTaintSection): boolean {
  const [both, one] = [compileTaint(combined), compileTaint(alone)];
  return NAMES.every((name) =>
    ['a', 'url'].every((argument) =>
      [...one.sinksAt(name, [argument])].every((kind) => both.sinksAt(name, [argument]).has(kind)),
    ),
  );
}

describe('the sections of two policies', () => {
  it.each(Object.entries(CONTENT_CHECKS))(
    'are never looser than one alone in content.%s',
    (_field, isAsStrict) => {
      fc.assert(
        fc.property(content, content, (user, project) => {
          const combined = stricterContent(user, project);
          expect(isAsStrict(combined, user)).toBe(true);
          expect(isAsStrict(combined, project)).toBe(true);
        }),
        runs(500),
      );
    },
  );

  it.each(Object.entries(TAINT_CHECKS))(
    'are never looser than one alone in taint.%s',
    (_field, isAsStrict) => {
      fc.assert(
        fc.property(taint, taint, (user, project) => {
          const combined = stricterTaint(user, project);
          expect(isAsStrict(combined, user)).toBe(true);
          expect(isAsStrict(combined, project)).toBe(true);
        }),
        runs(500),
      );
    },
  );

  it('ask a person as the user wants it', () => {
    const hint = { wait: 'hint', timeout_ms: 1 } as const;
    const own = stricterContent(CONTENT_DEFAULTS, { ...CONTENT_DEFAULTS, approval: hint });
    expect(own.approval).toEqual(CONTENT_DEFAULTS.approval);
    const taints = stricterTaint(TAINT_DEFAULTS, { ...TAINT_DEFAULTS, approval: hint });
    expect(taints.approval).toEqual(TAINT_DEFAULTS.approval);
  });

  it('stay as they are beside the same ones', () => {
    expect(stricterContent(CONTENT_DEFAULTS, CONTENT_DEFAULTS)).toEqual(CONTENT_DEFAULTS);
  });

  it('are checked here in every field that the contract has', () => {
    const known = (checks: object, leaf: string) =>
      Object.keys(checks).some((field) => leaf === field || leaf.startsWith(`${field}.`));
    expect(leavesOf(CONTENT_SECTION).filter((leaf) => !known(CONTENT_CHECKS, leaf))).toEqual([]);
    expect(leavesOf(TAINT_SECTION).filter((leaf) => !known(TAINT_CHECKS, leaf))).toEqual([]);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/runs.ts';
import type { Problem } from '../../source/problem.ts';
import type { Source } from '../../source/read-source.ts';
import { bundleText, NO_CHECKS, sampleRule } from '../testing/sample-bundle.ts';
import { type ParseResult, parseBundle } from './parse.ts';

const VALID = Buffer.from(
  bundleText(
    sampleRule('tag', { match: '{ tool_name: { glob: ["write_*"] } }' }) +
      sampleRule('deny', {
        match: '\n      args:\n        key_in:\n          mode: [a, 1, true]',
      }) +
      sampleRule('budget', { match: '&all {}', when: '|\n      call.bytes_in > 10\n' }) +
      sampleRule('rate_limit', { match: '*all' }),
  ),
);

/** Whatever went in: a bundle, or problems that each have a place, a reason and a fix. */
function expectAnswer(source: Source): ParseResult {
  const parsed = parseBundle(source, { checks: NO_CHECKS });
  const { ok, problems } = parsed;
  const errors = problems.filter(({ level }) => level === 'error');
  expect(ok ? errors.length === 0 : errors.length > 0).toBe(true);
  expect(problems.length).toBeLessThanOrEqual(100);
  expect(problems.filter((problem) => !isUseful(problem))).toEqual([]);
  const lines = textOf(source).split('\n');
  expect(problems.filter((problem) => !standsIn(lines, problem))).toEqual([]);
  const again = parseBundle(source, { checks: NO_CHECKS });
  expect(JSON.stringify(again)).toBe(JSON.stringify(parsed));
  return parsed;
}

function textOf(source: Source): string {
  const text = 'text' in source ? source.text : new TextDecoder().decode(source.bytes);
  return text.replace(/^\uFEFF/, '');
}

/** Whether there is a line to show with the problem, unless the file has none at all. */
function standsIn(lines: readonly string[], { position }: Problem): boolean {
  const line = lines[position.line - 1];
  if (line === undefined || position.column > line.length + 1) return false;
  return position.line === 1 || lines.slice(position.line - 1).some((text) => text.trim() !== '');
}

function isUseful({ code, position, path, message, fix }: Problem): boolean {
  return (
    /^SUB_BUNDLE_[A-Z_]+$/.test(code) &&
    position.line >= 1 &&
    position.column >= 1 &&
    message !== '' &&
    fix.endsWith('.') &&
    !/\p{Cc}/u.test(path + message + fix)
  );
}

test('the bundle that the mutations start from is valid', () => {
  expect(expectAnswer({ file: 'f', bytes: VALID }).ok).toBe(true);
});

test('the parser answers any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expectAnswer({ file: 'f', bytes });
    }),
    runs(500),
  );
});

const SIGNS = [...'-?:,[]{}#&*!|>\'"%@` \t\n\r=<~.0', '- ', ': ', '? ', '\n\n', '---\n', '...\n'];
const MORE_SIGNS = ['<<: ', '*all', '&all ', '!!str ', '.inf', '{a', '"\\', '\uFEFF', '\u0000'];
const sign = fc.constantFrom(...SIGNS, ...MORE_SIGNS);

test('the parser answers any mixture of signs', () => {
  const word = fc.constantFrom('a', 'rules', 'policy_id', 'true', '1', 'null', 'kind');
  const text = fc.array(fc.oneof(sign, word), { maxLength: 80 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (mixture) => {
      expectAnswer({ file: 'f', text: mixture });
      expectAnswer({ file: 'f.json', text: `{"a": ${mixture}` });
    }),
    runs(1_000),
  );
});

type Mutation = (bytes: Uint8Array) => Uint8Array;

const at = fc.nat(VALID.length - 1);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(at, fc.nat(255)).map(
    ([index, byte]): Mutation =>
      (bytes) => {
        const flipped = Buffer.from(bytes);
        if (index < flipped.length) flipped[index] = byte;
        return flipped;
      },
  ),
  at.map(
    (length): Mutation =>
      (bytes) =>
        bytes.subarray(0, length),
  ),
  fc.tuple(at, sign).map(
    ([index, text]): Mutation =>
      (bytes) => {
        return Buffer.concat([bytes.subarray(0, index), Buffer.from(text), bytes.subarray(index)]);
      },
  ),
  fc.tuple(at, fc.nat(40)).map(
    ([index, length]): Mutation =>
      (bytes) => {
        return Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + length)]);
      },
  ),
  fc.tuple(at, at, fc.nat(60)).map(
    ([from, to, length]): Mutation =>
      (bytes) => {
        const piece = bytes.subarray(from, from + length);
        return Buffer.concat([bytes.subarray(0, to), piece, bytes.subarray(to)]);
      },
  ),
  fc.tuple(fc.nat(40), fc.nat(40)).map(
    ([one, other]): Mutation =>
      (bytes) => {
        return Buffer.from(
          withSwappedIndentation(Buffer.from(bytes).toString('latin1'), one, other),
          'latin1',
        );
      },
  ),
);

function withSwappedIndentation(text: string, one: number, other: number): string {
  const lines = text.split('\n');
  const indentOf = (index: number) => /^ */.exec(lines[index] ?? '')?.[0] ?? '';
  const [first, second] = [indentOf(one), indentOf(other)];
  return lines
    .map((line, index) => {
      if (index === one) return second + line.trimStart();
      return index === other ? first + line.trimStart() : line;
    })
    .join('\n');
}

test('the parser answers a valid bundle after any few mutations', () => {
  const tries = runs(1_000);
  let refused = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const bytes = mutations.reduce<Uint8Array>((mutated, mutate) => mutate(mutated), VALID);
      if (!expectAnswer({ file: 'f', bytes }).ok) refused++;
    }),
    tries,
  );
  expect(refused).toBeGreaterThan(tries.numRuns / 10);
});

test('the parser answers any tree', () => {
  const name = fc.constantFrom(
    'rules',
    'kind',
    'match',
    'effect',
    'deny',
    '__proto__',
    'hint',
    'x',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium' },
      fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), name),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent) ?? '';
      expectAnswer({ file: 'f', text });
      expectAnswer({ file: 'f.json', text });
    }),
    runs(1_000),
  );
});

test('the parser answers a bundle in which one value is replaced by any other', () => {
  const rule = {
    rule_id: 'r',
    kind: 'breaker',
    enabled: true,
    match: { tool_name: { glob: ['a'] }, args: { numeric_range: { n: { min: 1 } } } },
    effect: { breaker: { scope: 'run', error_threshold: 1, window_ms: 1, on_trip: 'BLOCK' } },
    severity: 'warn',
  };
  const bundle = {
    policy_id: 'p',
    version: '1',
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [rule],
  };
  const text = JSON.stringify(bundle);
  expect(expectAnswer({ file: 'f', text }).ok).toBe(true);
  const values = [...text.matchAll(/(?<=[:[])("[^"]*"|\d+|true|\{\})/g)];
  const other = fc.jsonValue({ maxDepth: 2 });
  fc.assert(
    fc.property(fc.nat(values.length - 1), other, (index, value) => {
      const found = values[index];
      const start = found?.index ?? 0;
      const end = start + (found?.[0].length ?? 0);
      expectAnswer({
        file: 'f',
        text: text.slice(0, start) + JSON.stringify(value) + text.slice(end),
      });
    }),
    runs(1_000),
  );
});

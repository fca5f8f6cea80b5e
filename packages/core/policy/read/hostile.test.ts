// Text that is small but makes parsers work: the shapes that cost most fill the whole size that is
// allowed, the others an eighth of it.
// The yaml package alone takes up to 16 s and 1.4 GB for these; a hang fails by the test timeout.
import { expect, test } from 'vitest';
import { BYTES_MAX } from '../../source/read-source.ts';
import { NO_CHECKS } from '../testing/sample-bundle.ts';
import { parseBundle } from './parse.ts';

const SMALL_BYTES = BYTES_MAX / 8;
/** How much the shape that is made next may fill. */
let bytesMax = BYTES_MAX;

/** As many repetitions as fit. */
function fill(unit: string, before = '', after = ''): string {
  const space = bytesMax - Buffer.byteLength(before + after);
  return before + unit.repeat(Math.floor(space / Buffer.byteLength(unit))) + after;
}

/** Lines that are made one by one, until they fill the space. */
function lines(lineOf: (index: number) => string, before = ''): string {
  const parts = [before];
  let length = before.length;
  for (let index = 0; ; index++) {
    const line = lineOf(index);
    length += line.length;
    if (length > bytesMax) return parts.join('');
    parts.push(line);
  }
}

const SHAPES: { readonly [name: string]: () => string } = {
  'brackets that never close': () => fill('['),
  'brackets that were never opened': () => fill(']'),
  'many lists of sixty levels': () => fill(`${'['.repeat(60)}${']'.repeat(60)},`, '[', ']'),
  'empty lists': () => fill('[],', '[', ']'),
  commas: () => fill(',', '[', ']'),
  dashes: () => fill('- '),
  'question marks': () => fill('? '),
  colons: () => fill(': '),
  'a chain of keys': () => fill('a: '),
  'deeper and deeper keys': () => lines((index) => `${' '.repeat(index)}a:\n`),
  'deeper and deeper dashes': () => lines((index) => `${' '.repeat(index)}-\n`),
  'up and down sixty levels': () => lines((index) => `${' '.repeat(index % 60)}k${index}:\n`),
  'lists within lists on each line': () => fill(`${'- '.repeat(60)}x\n`),
  'wrong indentation': () => fill(' a: 1\nb: 2\n'),
  'different anchors': () => lines((index) => `- &a${index} x\n`),
  aliases: () => fill('- *a\n', '- &a x\n'),
  'aliases without anchors': () => fill('* '),
  'one long word': () => fill('x', 'a: '),
  'one text on many lines': () => fill('  x\n', 'a:\n'),
  'one long key': () => fill('x', '', ': 1'),
  'one long number': () => fill('9', 'a: '),
  'one long fraction': () => fill('0', 'a: 0.', '1'),
  'a quote that never closes': () => fill('x\n', 'a: "'),
  'many quotes that never close': () => fill('"\n'),
  'quoted text side by side': () => fill('"a"'),
  'escaped line ends': () => fill('\\\n', 'a: "', '"'),
  'bad escapes': () => fill('\\q', 'a: "', '"'),
  'doubled quotes': () => fill("''", "a: '", "'"),
  'a block of blank lines': () => fill('\n', 'a: |\n'),
  comments: () => fill('# x\n'),
  tabs: () => fill('\t'),
  'blank lines': () => fill('\n'),
  'byte order marks': () => fill('\uFEFF'),
  documents: () => fill('---\n'),
  'ends of documents': () => fill('...\n'),
  directives: () => fill('%YAML 1.2\n'),
  'percent signs': () => fill('%'),
  'minified JSON': () => fill('{"k":1,"v":"x"},', '[', '{}]'),
  'unknown fields': () => lines((index) => `policy_id${index}: x\n`),
};

const COSTLIEST: ReadonlySet<string> = new Set([
  'a block of blank lines',
  'escaped line ends',
  'minified JSON',
  'different anchors',
  'blank lines',
  'many lists of sixty levels',
  'unknown fields',
  'up and down sixty levels',
  'commas',
  'aliases without anchors',
]);

test.each(Object.keys(SHAPES))('answers a file of %s', (name) => {
  expect(Object.keys(SHAPES)).toEqual(expect.arrayContaining([...COSTLIEST]));
  bytesMax = COSTLIEST.has(name) ? BYTES_MAX : SMALL_BYTES;
  const bytes = Buffer.from(SHAPES[name]?.() ?? '');
  expect(bytes.length).toBeGreaterThan(bytesMax * 0.99);
  const parsed = parseBundle({ file: 'f', bytes }, { checks: NO_CHECKS });
  // None of them is a bundle.
  expect(parsed.ok).toBe(false);
  expect(parsed.problems.length).toBeGreaterThan(0);
});

test('the parser reads a large bundle without errors', () => {
  const rule = (index: number) => ({
    rule_id: `rule-${index}`,
    kind: 'deny',
    enabled: true,
    severity: 'warn',
    match: { server_name: { glob: ['git*'] }, tool_name: { glob: [`tool_${index}`, 'x*'] } },
    effect: { action: 'BLOCK', reason_code: 'R', message: 'No.', hint: { hint_text: 'Stop.' } },
    description: 'x'.repeat(400),
  });
  const bundle = {
    policy_id: 'large',
    version: '1',
    mode: 'guardrails',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: Array.from({ length: 1_000 }, (_, index) => rule(index)),
  };
  const text = JSON.stringify(bundle, null, 1);
  expect(parseBundle({ file: 'f', text }, { checks: NO_CHECKS })).toMatchObject({
    ok: true,
    bundle,
  });
});

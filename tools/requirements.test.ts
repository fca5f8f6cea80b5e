import { describe, expect, it } from 'vitest';
import { REQUIREMENTS, type RequirementId, verifies } from '../test/requirements.ts';
import { audit, print } from './requirements.ts';

const DONE = { id: 'IP-1.1', state: 'done', text: 'Events are lines.' } as const;
const PLANNED = { id: 'R-1', state: 'planned', text: 'The workspace builds.' } as const;
const MANIFEST = [DONE, PLANNED];
const CITED = `it('emits lines', () => { verifies('IP-1.1'); });`;

function auditSource(text: string, manifest: Parameters<typeof audit>[0] = MANIFEST) {
  return audit(manifest, [{ path: 'a.test.ts', text }]);
}

/** Whether `IP-1.1`, which is done, counts as cited by this source. */
function counts(text: string): boolean {
  return !auditSource(text).findings.some(({ rule }) => rule === 'uncited');
}

function rules(rows: readonly { readonly rule: string }[]): readonly string[] {
  return rows.map(({ rule }) => rule);
}

describe('the manifest', () => {
  it('is sound by itself', () => {
    const planned = REQUIREMENTS.map((requirement) => ({
      ...requirement,
      state: 'planned' as const,
    }));
    expect(audit(planned, []).findings).toEqual([]);
  });

  it('gives every requirement a specification', () => {
    const { total, specifications } = audit(REQUIREMENTS, []);
    expect(specifications.reduce((sum, { all }) => sum + all, 0)).toBe(total.all);
    expect(specifications.filter(({ all }) => all === 0)).toEqual([]);
  });

  it('lists numbered requirements without a gap', () => {
    const ids = new Set(REQUIREMENTS.map(({ id }) => id));
    const numbered = (prefix: string, last: number, digits: number) =>
      Array.from({ length: last }, (_, at) => prefix + String(at + 1).padStart(digits, '0'));
    const expected = [
      ...numbered('EC-STDIO-', 44, 3),
      ...numbered('F-', 24, 3),
      ...numbered('NFR-', 3, 3),
      ...numbered('R-', 22, 1),
      ...numbered('ST-8.', 12, 1),
    ];
    expect(expected.filter((id) => !ids.has(id))).toEqual([]);
  });

  it('speaks of the product by its own name', () => {
    const foreign = REQUIREMENTS.filter(({ text }) => /thoughtgate|agentgate/i.test(text));
    expect(foreign).toEqual([]);
  });
});

describe('verifies', () => {
  // Under another name, so that these calls don't count as citations.
  const cite: (...ids: RequirementId[]) => void = verifies;

  it('accepts ids of the manifest', () => {
    expect(() => cite('IP-1.1', 'EC-STDIO-044')).not.toThrow();
  });

  it('throws on an id that no requirement has', () => {
    const typo = 'IP-99.1' as RequirementId;
    expect(() => cite('IP-1.1', typo)).toThrow('IP-99.1');
  });
});

describe('audit', () => {
  it('fails a done requirement that no test cites', () => {
    const { findings } = auditSource(`it('does nothing', () => {});`);
    expect(findings).toMatchObject([{ rule: 'uncited', at: 'IP-1.1' }]);
  });

  it('passes a done requirement that a test cites', () => {
    expect(auditSource(CITED)).toMatchObject({ findings: [], warnings: [] });
  });

  it('says where a done requirement is cited without effect', () => {
    const { findings } = auditSource(`\nit.skip('x', () => { verifies('IP-1.1'); });`);
    expect(findings[0]?.message).toContain('a.test.ts:2 (skipped)');
  });

  it('fails a cited id that does not exist, even in a skipped test', () => {
    const skipped = `it.skip('x', () => { verifies('IP-1.x'); });`;
    const { findings } = auditSource(`${CITED}\n${skipped}`);
    expect(findings).toMatchObject([{ rule: 'unknown', at: 'a.test.ts:2' }]);
    expect(findings[0]?.message).toContain('IP-1.x');
  });

  it('fails an id that stands twice in the manifest, once', () => {
    const { findings } = auditSource(CITED, [DONE, PLANNED, PLANNED, PLANNED]);
    expect(findings).toMatchObject([{ rule: 'duplicate', at: 'R-1' }]);
  });

  it.each([
    ['no text', ''],
    ['blank text', '  '],
    ['text that is too long', 'x'.repeat(141)],
    ['text of two lines', 'a\nb'],
  ])('fails a requirement with %s', (_, text) => {
    const { findings } = auditSource(CITED, [DONE, { ...PLANNED, text }]);
    expect(findings).toMatchObject([{ rule: 'text', at: 'R-1' }]);
  });

  it('passes a text of exactly the greatest length', () => {
    const { findings } = auditSource(CITED, [DONE, { ...PLANNED, text: 'x'.repeat(140) }]);
    expect(findings).toEqual([]);
  });

  it('warns of a planned requirement that tests cite, once, and does not fail', () => {
    const twice = `it('a', () => { verifies('R-1'); });\nit('b', () => { verifies('R-1'); });`;
    const { findings, warnings } = auditSource(`${CITED}\n${twice}`);
    expect(findings).toEqual([]);
    expect(warnings).toMatchObject([{ rule: 'planned', at: 'R-1' }]);
    expect(warnings[0]?.message).toContain('a.test.ts:2 and 1 more');
  });

  it('prints one line for all planned requirements of a specification, unless asked for each', () => {
    const also = { ...PLANNED, id: 'R-2' } as const;
    const cites = `it('a', () => { verifies('R-1', 'R-2'); });`;
    const report = auditSource(`${CITED}\n${cites}`, [DONE, PLANNED, also]);
    const lines = (verbose: boolean) =>
      print(report, verbose)
        .split('\n')
        .filter((line) => /^(?:warn|note) /.test(line));
    expect(lines(false)).toEqual([
      'note planned    model gateway: 2 requirements are planned, but cited; --verbose lists them',
    ]);
    expect(lines(true)).toHaveLength(2);
    expect(lines(true)[0]).toContain('R-1 is planned, but cited by a.test.ts:2');
  });

  it('does not warn of a planned requirement that only a skipped test cites', () => {
    const { warnings } = auditSource(`${CITED}\nit.skip('b', () => { verifies('R-1'); });`);
    expect(warnings).toEqual([]);
  });

  it('warns of a citation outside any test', () => {
    const { warnings } = auditSource(`${CITED}\nverifies('IP-1.1');`);
    expect(warnings).toMatchObject([{ rule: 'outside', at: 'a.test.ts:2' }]);
  });

  it.each(['...IDS', 'id', "'IP-1.1', id", '`IP-${n}`', ''])(
    'warns of a citation that it cannot read: %s',
    (args) => {
      const { warnings } = auditSource(`${CITED}\nit('x', () => { verifies(${args}); });`);
      expect(rules(warnings)).toEqual(['unreadable']);
    },
  );

  it('counts done, planned and cited, in all and by specification', () => {
    const report = auditSource(CITED);
    expect(report.total).toEqual({ done: 1, all: 2, planned: 1, cited: 1 });
    const gateway = report.specifications.find(({ name }) => name === 'model gateway');
    expect(gateway).toEqual({ name: 'model gateway', done: 0, all: 1, planned: 1, cited: 0 });
  });

  it('counts one id cited by many files once', () => {
    const files = ['a', 'b'].map((path) => ({ path, text: CITED }));
    expect(audit(MANIFEST, files).total.cited).toBe(1);
  });
});

describe('a citation counts', () => {
  it.each([
    ['in double quotes', `it('x', () => { verifies("IP-1.1"); });`],
    ['in a plain template', "it('x', () => { verifies(`IP-1.1`); });"],
    [
      'as one of several over lines',
      `it('x', () => {\n verifies(\n  'R-1', // why\n  "IP-1.1",\n );\n});`,
    ],
    ['in `test`', `test('x', async () => { verifies('IP-1.1'); });`],
    ['in a group', `describe('g', () => { it('x', () => { verifies('IP-1.1'); }); });`],
    ['after a skipped test', `it.skip('a', () => {});\n${CITED}`],
    ['after a string that opens a comment', `const url = 'a//b/*'; ${CITED}`],
    ['after a regex that opens a comment', `const slash = /[/*]\\/*'/; ${CITED}`],
    ['after a division', `const half = (1 + 1) / 2; const b = 4 / 2; ${CITED}`],
    ['after a nested template', 'const t = `a${`b${{ c: "}" }.c}`} // no`; ' + CITED],
    ['in a table of rows', `it.each([[1], [2]])('x %i', (n) => { verifies('IP-1.1'); });`],
    [
      'in a typed table',
      `it.each<{ a: () => void; b: Map<string, X> }>([])('x', () => { verifies('IP-1.1'); });`,
    ],
    ['in a tagged table', "it.each`a|b\n${1}|${2}`('x', () => { verifies('IP-1.1'); });"],
    ['in a conditional test', `it.skipIf(!url)('x', () => { verifies('IP-1.1'); });`],
    ['in a test with options', `it('x', { timeout: 5, retry: 2 }, () => { verifies('IP-1.1'); });`],
    [
      'in a renamed test',
      `import { test as base } from 'vitest'; base('x', () => { verifies('IP-1.1'); });`,
    ],
    [
      'in a test made by `const`',
      `const pg = it.skipIf(!url);\npg('x', () => { verifies('IP-1.1'); });`,
    ],
    [
      'in a test chosen by `const`',
      `const pg = url ? it : it.skip;\npg('x', () => { verifies('IP-1.1'); });`,
    ],
    [
      'beside the data `{ skip: true }`',
      `it('x', () => { f({ skip: true }, { skip: true }); verifies('IP-1.1'); });`,
    ],
  ])('%s', (_, text) => {
    expect(counts(text)).toBe(true);
  });
});

describe('a citation does not count', () => {
  it.each([
    ['in a line comment', `it('x', () => { // verifies('IP-1.1');\n});`],
    ['in a block comment', `it('x', () => { /* a\n verifies('IP-1.1'); */ });`],
    ['in a string', `it('x', () => { f("verifies('IP-1.1')"); });`],
    ['in a template', "it('x', () => { f(`verifies('IP-1.1')`); });"],
    ['in a regex', `it('x', () => { f(/verifies('IP-1.1')/); });`],
    ['as a method', `it('x', () => { other.verifies('IP-1.1'); });`],
    ['under another name', `it('x', () => { reverifies('IP-1.1'); });`],
    ['in a skipped test', `it.skip('x', () => { verifies('IP-1.1'); });`],
    ['in a skipped table', `it.skip.each([1])('x', () => { verifies('IP-1.1'); });`],
    ['in a test of a skipped group', `describe.skip('g', () => { ${CITED} });`],
    ['in a test that is expected to fail', `it.fails('x', () => { verifies('IP-1.1'); });`],
    ['in a test that is yet to be written', `it.todo('x', () => { verifies('IP-1.1'); });`],
    ['in a test skipped by `true`', `it.skipIf(true)('x', () => { verifies('IP-1.1'); });`],
    ['in a test run by `false`', `it.runIf(false)('x', () => { verifies('IP-1.1'); });`],
    ['in a test skipped by option', `it('x', { skip: true }, () => { verifies('IP-1.1'); });`],
    [
      'in a test made from a skipped one',
      `const off = it.skip;\noff('x', () => { verifies('IP-1.1'); });`,
    ],
    ['in a group without a test', `describe('g', () => { verifies('IP-1.1'); });`],
    ['in the callback of a regex test', `/a/.test(f(() => { verifies('IP-1.1'); }));`],
  ])('%s', (_, text) => {
    expect(counts(text)).toBe(false);
  });
});

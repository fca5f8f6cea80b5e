import { describe, expect, it } from 'vitest';
import { REQUIREMENTS, type RequirementId, verifies } from '../test/requirements.ts';
import { citedIds, citedInTests, findProblems, specificationOf } from './requirements.ts';

// Under another name, so that these calls don't count as citations.
const CALL = 'verifies';
const cite: (...ids: RequirementId[]) => void = verifies;

describe('the requirements manifest', () => {
  it('has a test for every requirement that is done, and tests cite no other ids', () => {
    expect(findProblems(REQUIREMENTS, citedInTests())).toEqual([]);
  });

  it('has each id once, with a text of one line and a specification', () => {
    const ids = REQUIREMENTS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(REQUIREMENTS.filter(({ text }) => !/^\S.{0,138}\S$/.test(text))).toEqual([]);
    expect(ids.filter((id) => specificationOf(id) === undefined)).toEqual([]);
  });

  it('lists numbered requirements without a gap', () => {
    const ids = new Set<string>(REQUIREMENTS.map(({ id }) => id));
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
    expect(REQUIREMENTS.filter(({ text }) => /thoughtgate|agentgate/i.test(text))).toEqual([]);
  });
});

describe('the audit of citations', () => {
  const done = { id: 'IP-1.1', state: 'done', text: 'Events are lines.' } as const;

  it('finds the ids of every citation', () => {
    const text = `it('a', () => { ${CALL}('A-1', 'A-2'); });\nit('b', () => ${CALL}('B-1'));`;
    expect(citedIds(text)).toEqual(['A-1', 'A-2', 'B-1']);
  });

  it.each([`// ${CALL}('A-1');`, `/* ${CALL}('A-1'); */`, `x.${CALL}('A-1');`])(
    'ignores %s',
    (text) => {
      expect(citedIds(text)).toEqual([]);
    },
  );

  it('reports a done requirement without a test, and an unknown id', () => {
    expect(findProblems([done], new Set())).toEqual(['IP-1.1 is done, but no test cites it.']);
    expect(findProblems([done], new Set(['IP-1.1', 'X-1']))).toEqual([
      'No requirement has the id X-1.',
    ]);
  });

  it('lets `verifies` throw on an id that no requirement has', () => {
    expect(() => cite('IP-1.1', 'EC-STDIO-044')).not.toThrow();
    expect(() => cite('IP-99.1' as RequirementId)).toThrow('IP-99.1');
  });
});

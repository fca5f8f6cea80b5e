import type { ApiProbe, ApiSeenTool } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { acceptBody, shownChanges } from './shown-change.ts';

const HASH = 'a'.repeat(64);
const SAME = {
  kind: 'same' as const,
  pinned: HASH,
  seen: HASH,
  before: null,
  after: null,
  fields: [],
  acceptable: true,
};

function probe(...tools: readonly Partial<ApiSeenTool>[]): ApiProbe {
  return {
    at_ms: 0,
    expires_at_ms: 1,
    transport: 'stdio',
    found_in: null,
    first_sight: false,
    changed: true,
    tools_total: tools.length,
    tools: tools.map((tool, at) => ({ ...SAME, tool_name: `t${at}`, ...tool })),
    renamed: [],
    instructions: SAME,
  };
}

const noticed = (tool_name: string | null) => ({
  tool_name,
  enforced: true,
  detail: '',
  run_id: '',
  at_ms: 0,
});

test('changes are shown, and what a session has noticed though it is as pinned again', () => {
  const seen = probe({}, { kind: 'changed', before: 'a', after: 'b' }, { kind: 'removed' });
  expect(shownChanges(seen, []).map(({ tool }) => tool)).toEqual(['t1', 't2']);
  const told = shownChanges(seen, [noticed('t0'), noticed(null)]);
  expect(told.map(({ tool }) => tool)).toEqual([null, 't0', 't1', 't2']);
});

test('what is too long to be shown whole cannot be accepted', () => {
  const long = { kind: 'added', pinned: null, after: '\n'.repeat(2_000) } as const;
  const fits = { kind: 'added', pinned: null, after: '\n'.repeat(1_999) } as const;
  const one = shownChanges(probe(long, fits), []);
  expect(one.map(({ acceptable, after }) => [acceptable, after === null])).toEqual([
    [false, true],
    [true, false],
  ]);
  const many = shownChanges(probe(...Array.from({ length: 11 }, () => fits)), []);
  expect(many.filter(({ acceptable }) => acceptable)).toHaveLength(10);
});

test('exactly the hashes that were shown are sent', () => {
  const [text, tool] = shownChanges(probe({ kind: 'removed', seen: null }), [noticed(null)]);
  if (text === undefined || tool === undefined) throw new Error('not shown');
  expect(acceptBody([tool])).toEqual({ tools: [{ tool_name: 't0', seen: null, pinned: HASH }] });
  expect(acceptBody([text])).toEqual({ tools: [], instructions: { seen: HASH, pinned: HASH } });
});

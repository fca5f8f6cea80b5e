import { describe, expect, test } from 'vitest';
import {
  CALL_SEARCH_KEYS,
  type CallSearchKey,
  parseCallSearch,
  searchTermText,
} from './call-search.ts';
import { API_ENDPOINTS } from './endpoints.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const HASH = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';

function queryOf(text: string) {
  const search = parseCallSearch(text, NOW_MS);
  return search.kind === 'query' ? search.query : search.problems;
}

function problemsOf(text: string) {
  const search = parseCallSearch(text, NOW_MS);
  if (search.kind === 'query') return [];
  return search.problems.map(({ from, to, message }) => [text.slice(from, to), message] as const);
}

describe('a search text is a query of /calls', () => {
  test.each([
    ['', {}],
    [' \t\n', {}],
    [
      'tool:git_* decision:refused path:.env since:2h "free text"',
      {
        tool_name: 'git_*',
        decision: 'REFUSED',
        path: '.env',
        from_ms: NOW_MS - 2 * HOUR_MS,
        text: 'free text',
      },
    ],
    ['decision:Hint', { decision: 'REJECT_WITH_HINT' }],
    ['decision:ask', { decision: 'ASKED' }],
    ['decision:terminate', { decision: 'TERMINATE_RUN' }],
    ['decision:terminate_run', { decision: 'TERMINATE_RUN' }],
    ['DECISION:block status:Failed', { decision: 'BLOCK', status: 'FAILED' }],
    ['kind:turn provider:anthropic model:m', { kind: 'turn', provider: 'anthropic', model: 'm' }],
    ['arg:a=1 arg:b.c="x y"', { arg: ['a=1', 'b.c=x y'] }],
    ['path:"/a b/c" run:last', { path: '/a b/c', run_id: 'last' }],
    [String.raw`text:"a \"b\" \\ \n"`, { text: String.raw`a "b" \ \n` }],
    ['two  words', { text: 'two words' }],
    ['"tool:x"', { text: 'tool:x' }],
    ['-rf', { text: '-rf' }],
    ['"NOT"', { text: 'NOT' }],
    [String.raw`tool:a\*`, { tool_name: String.raw`a\*` }],
    ['until:2026-02-01', { to_ms: Date.parse('2026-02-01T00:00:00Z') }],
    [`args-hash:${HASH.toUpperCase()}`, { args_hash: HASH }],
    [
      'server:s agent:a rule:r principal:p approved-by:b',
      {
        server_name: 's',
        agent_id: 'a',
        rule_id: 'r',
        principal: 'p',
        approved_by: 'b',
      },
    ],
  ])('%s', (text, query) => {
    expect(queryOf(text)).toEqual(query);
    expect(API_ENDPOINTS.calls.query.parse(query).ok).toBe(true);
    expect(API_ENDPOINTS.histogram.query.parse(query).ok).toBe(true);
  });
});

describe('a problem names its place, and the text means nothing', () => {
  test.each([
    ['tool:a tol:b', 'tol:b', /no filter tol/],
    ['https://example.com', 'https://example.com', /quotation marks/],
    ['-tool:a', '-tool:a', /Negation is not supported/],
    ['x !decision:block', '!decision:block', /Negation is not supported/],
    ['tool:a NOT server:b', 'NOT', /NOT is not supported/],
    ['tool:a tool:b', 'tool:b', /given twice/],
    ['a tool:b c', 'c', /one text/],
    ['"a" "b"', '"b"', /one text/],
    ['decision:maybe', 'decision:maybe', /allow, hint, ask, throttle, block, terminate, refused/],
    ['status:fine', 'status:fine', /ok, error/],
    ['kind:tool', 'kind:tool', /tool_call, turn/],
    ['since:soon', 'since:soon', /needs a time/],
    ['since:1h until:2h', 'until:2h', /not after since/],
    ['arg:x', 'arg:x', /name and a glob/],
    ['tool: x', 'tool:', /a value, like tool:git_\*/],
    ['tool:"', 'tool:"', /not closed/],
    ['a "b c', '"b c', /not closed/],
    ['""', '""', /nothing between/],
    ['args-hash:ff', 'args-hash:ff', /64 digits/],
    ['tool:a\0', 'tool:a\0', /NUL/],
    [`text:${'x'.repeat(201)}`, `text:${'x'.repeat(201)}`, /at most 200/],
  ])('%s', (text, part, message) => {
    expect(problemsOf(text)).toEqual([[part, expect.stringMatching(message)]]);
  });

  test('of several, in the order of the text', () => {
    expect(problemsOf('tool:a kind:x tool:b y:').map(([part]) => part)).toEqual([
      'kind:x',
      'tool:b',
      'y:',
    ]);
    expect(problemsOf('arg:a=b '.repeat(11))).toHaveLength(1);
    expect(problemsOf('x'.repeat(20_000))).toHaveLength(1);
  });
});

test('terms tell where they stand', () => {
  const text = ' tool:"a b" free  words';
  const { terms } = parseCallSearch(text, NOW_MS);
  expect(terms.map(({ from, valueFrom, to }) => [from, valueFrom, to])).toEqual([
    [1, 6, 11],
    [12, 12, 23],
  ]);
  expect(terms.map(({ key, value }) => [key, value])).toEqual([
    ['tool', 'a b'],
    ['text', 'free words'],
  ]);
});

test('every key and every word of a key is read as it is offered', () => {
  const fields = API_ENDPOINTS.histogram.query.shape.fields;
  for (const [key, { field, ...rest }] of Object.entries(CALL_SEARCH_KEYS)) {
    expect(Object.keys(fields)).toContain(field);
    for (const { word, value } of 'words' in rest ? rest.words : []) {
      expect(queryOf(`${key}:${word}`)).toEqual({ [field]: value });
    }
  }
});

test.each(['plain', 'two words', 'a"b', String.raw`back\slash "x" \\`, '"', 'a:b'])(
  'the term for the value %s is read back as this value',
  (value) => {
    for (const key of ['tool', 'path', 'text'] satisfies CallSearchKey[]) {
      const { terms } = parseCallSearch(searchTermText(key, value), NOW_MS);
      expect(terms.map((term) => [term.key, term.value])).toEqual([[key, value]]);
    }
  },
);

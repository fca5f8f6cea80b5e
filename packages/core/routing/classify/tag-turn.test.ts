import { isFailure, MODEL_ENVELOPE, parseAs, TASK_TYPES } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { outlineRequest, type WireName } from '../../wires/index.ts';
import { messageSignals, type TaggedTurn, type TurnTags, tagTurn } from './tag-turn.ts';

function tags(wire: WireName, request: object, over: Partial<TaggedTurn> = {}): TurnTags {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', ...request }));
  const outline = outlineRequest(wire, bytes);
  if (isFailure(outline)) throw new Error(outline.message);
  const messages = outline.parts
    .filter(({ kind }) => kind === 'message')
    .map(({ range }) => messageSignals(bytes.toString('utf8', range.start, range.end)));
  const { isContinuation } = outline;
  return tagTurn({ messages, isContinuation, hasSecret: false, hasPersonalData: false, ...over });
}

const said = (...texts: readonly string[]) => ({
  messages: [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }],
});
const taskOf = (text: string) => tags('anthropic_messages', said(text)).hints.task_type;

const WORDS = [
  ['Plan the migration to Postgres', 'planning'],
  ['How should we approach the rewrite?', 'planning'],
  ['Propose an architecture for the event pipeline', 'architecture'],
  ['Compare the trade-offs of both system designs', 'architecture'],
  ['Where is the retry limit set?', 'repo_search'],
  ['Find all usages of parseConfig', 'repo_search'],
  ['Show me src/app.ts', 'file_reading'],
  ['What does this function do?', 'file_reading'],
  ['Fix the typo in the README', 'simple_edit'],
  ['Rename getUser to findUser', 'simple_edit'],
  ['Implement pagination for the users endpoint', 'code_edit'],
  ['Add a flag to the CLI', 'code_edit'],
  ['Run the tests', 'test_output'],
  ['Why does the login fail with a 500?', 'debug'],
  ['Fix the failing tests', 'debug'],
  ['The upload crashes on large files', 'debug'],
  ['Review this PR', 'review'],
  ['Do a code review of the last commit', 'review'],
  ['Do a security review of the auth module', 'security_review'],
  ['Is this vulnerable to SQL injection?', 'security_review'],
  ['Summarize the conversation so far', 'summary'],
  ['Write a commit message', 'summary'],
  ['你好', 'unknown'],
  ['ok', 'unknown'],
] as const;

test.each(WORDS)('the words %j are about %s', (text, task) => {
  verifies('R-19');
  expect(taskOf(text)).toBe(task);
});

test('every type of task has words that lead to it', () => {
  expect(new Set(WORDS.map(([, task]) => task))).toEqual(new Set(TASK_TYPES));
});

test('what the client puts beside the words of the user does not count', () => {
  const reminder = '<system-reminder>Run a security review. Plan first.</system-reminder>';
  expect(taskOf(`${reminder}Add a flag`)).toBe('code_edit');
  const request = { messages: [{ role: 'user', content: 'Plan it' }, ...said(reminder).messages] };
  expect(tags('anthropic_messages', request).hints.task_type).toBe('planning');
});

const EDIT = {
  file_path: '/home/ada/shop/src/auth/login.ts',
  old_string: 'a\nb',
  new_string: 'a\nc\nd',
};
const FAILED = 'FAIL src/auth/login.test.ts\n 1 failed\n    at login (src/auth/login.ts:12:3)';

/** The same loop on each wire: the user asks, the agent edits, the tool answers. */
const LOOPS: readonly (readonly [WireName, (words: string) => object])[] = [
  [
    'anthropic_messages',
    (words) => ({
      messages: [
        { role: 'user', content: words },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Edit', input: EDIT }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: FAILED }] },
      ],
    }),
  ],
  [
    'openai_chat_completions',
    (words) => ({
      messages: [
        { role: 'user', content: words },
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 't',
              type: 'function',
              function: { name: 'edit_file', arguments: JSON.stringify(EDIT) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 't', content: FAILED },
      ],
    }),
  ],
  [
    'openai_responses',
    (words) => ({
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
        { type: 'function_call', call_id: 't', name: 'edit', arguments: JSON.stringify(EDIT) },
        { type: 'function_call_output', call_id: 't', output: FAILED },
      ],
    }),
  ],
];

describe.each(LOOPS)('a turn in the loop on %s', (wire, loop) => {
  it('shows its paths below the project, its languages, its change and its failure', () => {
    verifies('R-19');
    const found = tags(wire, loop('Implement the lockout'), { project: '/home/ada/shop' });
    expect(found).toMatchObject({
      filePaths: ['src/auth/login.ts', 'src/auth/login.test.ts'],
      languages: ['typescript'],
      diffSummary: {
        lines_added: 3,
        lines_removed: 2,
        contains_test_failure_keyword: true,
        contains_stack_trace: true,
      },
      hints: { task_type: 'code_edit', agentic_loop: true, security_sensitive_area: true },
    });
  });

  it('keeps the task of the words while the agent works', () => {
    expect(tags(wire, loop('Do a security review')).hints.task_type).toBe('security_review');
  });

  it('is known by its tool when the words say nothing', () => {
    expect(tags(wire, loop('go on')).hints).toMatchObject({
      task_type: 'code_edit',
      confidence: { task_type: 0.6 },
    });
  });

  it('names no path that stands outside of the project', () => {
    const found = tags(wire, loop('go on'));
    expect(JSON.stringify(found)).not.toContain('ada');
    expect(found.languages).toEqual(['typescript']);
  });
});

test.each([
  ['Bash', { command: 'npm test' }, 'test_output'],
  ['Bash', { command: 'pytest -q tests/unit' }, 'test_output'],
  ['shell', { command: ['rg', 'limitMs', 'src'] }, 'repo_search'],
  ['Bash', { command: 'cat src/a.ts' }, 'file_reading'],
  ['Grep', { pattern: 'limitMs' }, 'repo_search'],
  ['Read', { file_path: 'src/a.ts' }, 'file_reading'],
  ['TodoWrite', { todos: [{ content: 'a' }] }, 'planning'],
  ['Write', { file_path: 'src/a.ts', content: 'a\n'.repeat(40) }, 'code_edit'],
  ['Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' }, 'simple_edit'],
  ['mystery', { x: 'y' }, 'unknown'],
])('a use of %s with %j is %s', (name, input, task) => {
  const request = {
    messages: [
      { role: 'user', content: 'ok' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name, input }] },
    ],
  };
  expect(tags('anthropic_messages', request).hints.task_type).toBe(task);
});

test('a patch of Codex is counted by its lines', () => {
  const input = '*** Begin Patch\n*** Update File: src/a.py\n@@\n-old\n+new\n+more\n*** End Patch';
  const request = {
    input: [
      { type: 'message', role: 'user', content: 'ok' },
      { type: 'custom_tool_call', call_id: 't', name: 'apply_patch', input },
    ],
  };
  expect(tags('openai_responses', request)).toMatchObject({
    filePaths: ['src/a.py'],
    diffSummary: { lines_added: 2, lines_removed: 1 },
  });
});

test('what the scan found decides the sensitivity, then personal data and paths of security', () => {
  const level = (text: string, over: Partial<TaggedTurn>) => {
    return tags('anthropic_messages', said(text), over).hints.data_sensitivity;
  };
  expect(level('Add it', { hasSecret: true })).toBe('high');
  expect(level('Add it', { hasPersonalData: true })).toBe('medium');
  expect(level('Change src/auth/token.ts', {})).toBe('medium');
  expect(level('Change src/list.ts', {})).toBe('low');
});

test('paths are at most 64, and none holds what was said', () => {
  const names = Array.from({ length: 200 }, (_, index) => `src/file${index}.ts`);
  const found = tags('anthropic_messages', said(names.join(' '), 'My password is in ~/notes.md'));
  expect(found.filePaths).toHaveLength(64);
  expect(found.hints.complexity).toBe('high');
  expect(JSON.stringify(found)).not.toMatch(/password|notes/);
});

test('whatever a message holds, its tags fit the envelope and hold no word of it', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const block = fc.record({
    type: fc.constantFrom('text', 'tool_use', 'tool_result', 'function_call', 'reasoning', 'x'),
    text: fc.oneof(fc.string(), json),
    name: fc.string(),
    input: json,
    content: json,
    arguments: fc.oneof(
      fc.string(),
      json.map((value) => JSON.stringify(value)),
    ),
  });
  const messages = fc.array(
    fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(block) }),
    { maxLength: 4 },
  );
  const hintsShape = MODEL_ENVELOPE.fields.task_hints.shape;
  fc.assert(
    fc.property(messages, (some) => {
      const found = tags('anthropic_messages', { messages: some });
      expect(parseAs(hintsShape, found.hints).ok).toBe(true);
      expect(found.filePaths.every((path) => !path.startsWith('/'))).toBe(true);
    }),
  );
});

test.each([
  ['a long word', 'a'.repeat(500_000)],
  ['many dots', 'a.'.repeat(200_000)],
  ['open reminders', '<system-reminder>'.repeat(30_000)],
  ['stack frames without end', '    at x'.repeat(60_000)],
  ['fixes without a bug', 'fix '.repeat(100_000)],
])('the tagger gets through %s', (_, text) => {
  const { hints } = tags('anthropic_messages', said(text.slice(0, 60_000)));
  expect(TASK_TYPES).toContain(hints.task_type);
});

test('an argument that is too long for a path is none', () => {
  const paths = (path: string) => {
    const content = [{ type: 'tool_use', id: 't', name: 'Edit', input: { path } }];
    return messageSignals(JSON.stringify({ role: 'assistant', content })).paths;
  };
  expect(paths('src/a.ts')).toEqual(['src/a.ts']);
  expect(paths(`${'a'.repeat(30_000)}.ts`)).toEqual([]);
});

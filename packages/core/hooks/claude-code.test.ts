import type { JsonObject, JsonValue } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { anyArgsText, bodyNamed, damagedInputs, hostileText } from './captured.test-support.ts';
import { claudeCode } from './claude-code.ts';
import { claudeCodeDoes, type Effect, isRewrittenOrRefused } from './client-models.test-support.ts';
import { CLAUDE_CODE_INPUTS } from './fixtures/claude-code-inputs.ts';
import type { HookAnswer, HookEvent, HookInput } from './types.ts';

const fixtures = CLAUDE_CODE_INPUTS;
const WAYS = ['http', 'command'] as const;

function bodyOf(name: string): JsonObject {
  return bodyNamed(fixtures, name);
}

function inputOf(name: string, changes: object = {}): HookInput {
  const input = claudeCode.read(JSON.stringify({ ...bodyOf(name), ...changes }));
  if (typeof input === 'string') throw new Error(input);
  return input;
}

function effectsOf(name: string, answer: HookAnswer, changes: object = {}): readonly Effect[] {
  const { event } = inputOf(name, changes);
  const reply = claudeCode.write(event, answer);
  const original = event.kind === 'after_tool' ? event.output : undefined;
  const told = name.split('-')[0] ?? '';
  return WAYS.map((way) =>
    claudeCodeDoes(told, reply, { way, ...(original !== undefined && { original }) }),
  );
}

describe('reading', () => {
  test.each(fixtures)('the captured input of $name is read', ({ name, text }) => {
    const body = bodyOf(name);
    expect(claudeCode.read(text)).toMatchObject({
      sender: {
        sessionId: body['session_id'],
        cwd: body['cwd'],
        transcriptPath: body['transcript_path'],
      },
    });
  });

  test('arguments keep the digits that a double cannot hold', () => {
    const body = JSON.stringify(bodyOf('PreToolUse-Bash'));
    const text = body.replace(
      /"tool_input":\{[^}]*\}/,
      '"tool_input": {"n": 12345678901234567890}',
    );
    expect(claudeCode.read(text)).toMatchObject({
      event: {
        kind: 'before_tool',
        use: { tool: 'Bash', argsText: '{"n": 12345678901234567890}' },
      },
    });
  });

  test('the server of an MCP tool is named beside it', () => {
    const { event } = inputOf('PreToolUse-mcp__files__read_text_file', {
      tool_name: 'mcp__my_files__a__b__read',
      mcp_server: { name: 'my.files__a', source: 'user' },
    });
    expect(event).toMatchObject({ use: { server: 'my.files__a', tool: 'b__read' } });
    expect(event).not.toHaveProperty('use.isServerUncertain');
  });

  test('an MCP tool whose server is named otherwise is not understood', () => {
    const body = {
      ...bodyOf('PreToolUse-mcp__files__read_text_file'),
      mcp_server: { name: 'other' },
    };
    expect(claudeCode.read(JSON.stringify(body))).toMatch(/differ/);
  });

  test('a sub-agent is named', () => {
    expect(inputOf('PreToolUse-Bash-subagent').sender.subAgent).toEqual({
      id: 'a16208377ec1bc7a6',
      type: 'general-purpose',
    });
  });

  test('a note of a task in the background is not from the user', () => {
    expect(inputOf('UserPromptSubmit').event).toMatchObject({ isFromUser: true });
    expect(inputOf('UserPromptSubmit-task-notification').event).toMatchObject({
      isFromUser: false,
      promptId: bodyOf('UserPromptSubmit')['prompt_id'],
    });
  });

  test.each([
    ['Do it @hello.txt', ['hello.txt']],
    ['@.env, please', ['.env,', '.env']],
    ['read @"my file.txt" and (@src/a.ts#L3-9)', ['my file.txt', 'src/a.ts#L3-9', 'src/a.ts']],
  ])('files that a prompt shows: %s', (prompt, files) => {
    const { event } = inputOf('UserPromptSubmit', { prompt });
    expect(event.kind === 'prompt' ? event.files : []).toEqual(expect.arrayContaining(files));
  });

  test('an address is no file', () => {
    const { event } = inputOf('UserPromptSubmit', { prompt: 'write to me@example.com' });
    expect(event).toMatchObject({ files: [] });
  });

  test('the output of a failed tool cannot be replaced', () => {
    expect(inputOf('PostToolUseFailure-Bash').event).toMatchObject({
      isError: true,
      isReplaceable: false,
      output: 'Exit code 3',
    });
  });

  test('a batch names its uses', () => {
    expect(inputOf('PostToolBatch').event).toMatchObject({
      kind: 'before_model',
      uses: [{ useId: 'toolu_0_vbfn61', tool: 'Bash' }],
    });
  });

  test.each(['session_id', 'command'])('%s that stands twice is not understood', (key) => {
    const text = JSON.stringify(bodyOf('PreToolUse-Bash'));
    const twice = text.replace(`"${key}":`, `"${key}":"a","${key}":`);
    expect(claudeCode.read(twice)).toMatch(/a key twice/);
  });

  test.each([
    [
      'lists in lists without end',
      `{"tool_input":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`,
    ],
    ['too much depth', '['.repeat(100_000)],
    ['nothing', ''],
    ['a list', '[1]'],
    ['no session', '{"cwd":"/","hook_event_name":"PreToolUse"}'],
    ['no arguments', JSON.stringify({ ...bodyOf('PreToolUse-Bash'), tool_input: undefined })],
    ['arguments in a list', JSON.stringify({ ...bodyOf('PreToolUse-Bash'), tool_input: ['a'] })],
  ])('%s is not understood', (_what, text) => {
    expect(claudeCode.read(text)).toBeTypeOf('string');
  });
});

describe('answering', () => {
  test.each(['PreToolUse-Bash', 'UserPromptSubmit', 'PostToolBatch'])(
    'a refusal of %s holds over HTTP and as a command',
    (name) => {
      const effects = effectsOf(name, { do: 'refuse', reason: 'No.\nTry src/.' });
      expect(effects).toEqual(WAYS.map(() => ({ kind: 'refused', reason: 'No.\nTry src/.' })));
    },
  );

  test('the client asks its user, with the reason', () => {
    const effects = effectsOf('PreToolUse-Bash', { do: 'ask', reason: 'Is it wanted?' });
    expect(effects).toEqual(WAYS.map(() => ({ kind: 'asks', reason: 'Is it wanted?' })));
  });

  test.each([
    ['PreToolUse-Skill', true],
    ['PreToolUse-Agent', true],
    ['UserPromptExpansion', true],
    ['PreToolUse-Bash', false],
    ['UserPromptSubmit', false],
  ])('%s may bring along what answers in place of the user: %s', (name, isOpen) => {
    const event: HookEvent =
      name === 'UserPromptExpansion' ? { kind: 'other', name } : inputOf(name).event;
    expect(claudeCode.question?.isOpenedBy(event)).toBe(isOpen);
  });

  test('a change of the settings can be refused', () => {
    const reply = claudeCode.write({ kind: 'config_change' }, { do: 'refuse', reason: 'No.' });
    for (const way of WAYS) {
      expect(claudeCodeDoes('ConfigChange', reply, { way })).toMatchObject({ kind: 'refused' });
    }
  });

  test.each([
    ['PostToolUse-Bash', { stdout: 'Withheld.', stderr: '', interrupted: false }],
    ['PostToolUse-mcp__files__read_text_file', 'Withheld.'],
  ])('a refused output of %s is withheld', (name, output) => {
    const effects = effectsOf(name, { do: 'refuse', reason: 'Withheld.' });
    expect(effects).toEqual(WAYS.map(() => ({ kind: 'shows', output })));
  });

  test('a refused file is withheld', () => {
    for (const effect of effectsOf('PostToolUse-Read', { do: 'refuse', reason: 'Withheld.' })) {
      expect(JSON.stringify(effect)).toContain('Withheld.');
      expect(JSON.stringify(effect)).not.toContain('hello there');
    }
  });

  test('a refused output of an unknown shape ends the session', () => {
    const effects = effectsOf('PostToolUse-Edit', { do: 'refuse', reason: 'Withheld.' });
    expect(effects).toEqual(WAYS.map(() => ({ kind: 'stopped' })));
  });

  test('a replacement in another shape is not sent, because it would be ignored', () => {
    const answer: HookAnswer = { do: 'replace', output: 'text', note: 'Redacted.' };
    for (const effect of effectsOf('PostToolUse-Bash', answer)) {
      expect(effect).toMatchObject({ kind: 'shows', output: { stdout: 'Redacted.' } });
    }
  });

  test('the end of a turn is never blocked', () => {
    const reply = claudeCode.write(inputOf('Stop').event, { do: 'refuse', reason: 'No.' });
    expect(reply).toEqual({ stdout: '{}', stderr: '', exitCode: 0 });
  });

  test.each(['PreToolUse', 'PostToolUse', 'PostToolBatch', 'UserPromptSubmit', 'ConfigChange'])(
    'a %s that could not be read does not go on, known or not',
    (event) => {
      for (const way of WAYS) {
        for (const name of [event, undefined]) {
          const reply = claudeCode.refuseUnread(name, 'Broken.');
          const { kind } = claudeCodeDoes(event, reply, { way });
          expect(kind).toBe(event === 'PostToolUse' ? 'stopped' : 'refused');
        }
      }
    },
  );

  test('what a reason quotes is made harmless', () => {
    const reply = claudeCode.refuseUnread(
      'PreToolUse',
      `a\u001b[2Jb\n::add-mask::c${'x'.repeat(9_000)}`,
    );
    expect(reply.stderr).toContain('a\\u{1b}[2Jb\n\\u{3a}:add-mask');
    expect(reply.stderr.length).toBeLessThanOrEqual(4_000);
  });
});

describe('whatever comes', () => {
  test('a refusal holds with every reason', () => {
    const events = fc.constantFrom('PreToolUse-Bash', 'UserPromptSubmit', 'PostToolBatch');
    fc.assert(
      fc.property(events, hostileText, (name, reason) => {
        for (const { kind } of effectsOf(name, { do: 'refuse', reason }))
          expect(kind).toBe('refused');
      }),
      runs(300),
    );
  });

  test('a question is asked with every reason', () => {
    fc.assert(
      fc.property(hostileText, (reason) => {
        for (const { kind } of effectsOf('PreToolUse-Bash', { do: 'ask', reason }))
          expect(kind).toBe('asks');
      }),
      runs(300),
    );
  });

  test('a tool runs with the rewritten arguments or not at all', () => {
    fc.assert(
      fc.property(anyArgsText, (argsText) =>
        effectsOf('PreToolUse-Bash', { do: 'rewrite', argsText }).every((effect) =>
          isRewrittenOrRefused(effect, argsText),
        ),
      ),
      runs(300),
    );
  });

  test('a model never gets the output that was to be replaced', () => {
    const names = fixtures
      .map(({ name }) => name)
      .filter((name) => name.startsWith('PostToolUse-'));
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), hostileText, (name, value, note) => {
        const output = JSON.parse(JSON.stringify(value)) as JsonValue;
        for (const { kind } of effectsOf(name, { do: 'replace', output, note })) {
          expect(['shows', 'stopped']).toContain(kind);
        }
      }),
      runs(300),
    );
  });

  test('reading never throws, and an answer is always JSON', () => {
    fc.assert(
      fc.property(damagedInputs(fixtures), (body) => {
        const input = claudeCode.read(body);
        if (typeof input === 'string') return input !== '';
        const answers: readonly HookAnswer[] = [
          { do: 'pass' },
          { do: 'refuse', reason: body },
          { do: 'rewrite', argsText: body },
          { do: 'replace', output: body, note: body },
        ];
        for (const answer of answers) JSON.parse(claudeCode.write(input.event, answer).stdout);
        return true;
      }),
      runs(600),
    );
  });
});

test('nothing to say changes nothing', () => {
  const events: readonly HookEvent[] = fixtures.map(({ name }) => inputOf(name).event);
  for (const event of events) {
    expect(claudeCode.write(event, { do: 'pass' })).toEqual({
      stdout: '{}',
      stderr: '',
      exitCode: 0,
    });
  }
});

test.each([
  ['include', { kind: 'included_file', path: '/srv/.env' }],
  ['session_start', { kind: 'other', name: 'InstructionsLoaded' }],
])('instructions that were loaded by %s', (load_reason, event) => {
  const about = { session_id: 's', cwd: '/srv', file_path: '/srv/.env', load_reason };
  const body = JSON.stringify({ ...about, hook_event_name: 'InstructionsLoaded' });
  expect(claudeCode.read(body)).toMatchObject({ event });
  expect(claudeCode.refuseUnread('InstructionsLoaded', 'No.').exitCode).toBe(0);
});

import type { JsonValue } from '@subluminal/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/runs.ts';
import { anyArgsText, bodyNamed, damagedInputs, hostileText } from './captured.test-support.ts';
import { codexDoes, type Effect, isRewrittenOrRefused } from './client-models.test-support.ts';
import { codex } from './codex.ts';
import { CODEX_INPUTS } from './fixtures/codex-inputs.ts';
import type { HookAnswer, HookInput } from './types.ts';

const fixtures = CODEX_INPUTS;
const TOOL = bodyNamed(fixtures, 'PreToolUse-Bash');

function inputOf(changes: object): HookInput {
  const input = codex.read(JSON.stringify({ ...TOOL, ...changes }));
  if (typeof input === 'string') throw new Error(input);
  return input;
}

const EVENTS = {
  PreToolUse: {},
  PostToolUse: { hook_event_name: 'PostToolUse', tool_response: 'hello\n' },
  UserPromptSubmit: { hook_event_name: 'UserPromptSubmit', prompt: 'go on' },
} as const;
type EventName = keyof typeof EVENTS;
const NAMES: readonly EventName[] = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit'];

function effectOf(name: EventName, answer: HookAnswer): Effect {
  return codexDoes(name, codex.write(inputOf(EVENTS[name]).event, answer));
}

describe('reading', () => {
  test.each(fixtures)('the input of $name is read', ({ name, text }) => {
    const body = bodyNamed(fixtures, name);
    expect(codex.read(text)).toMatchObject({
      sender: { sessionId: body['session_id'], cwd: body['cwd'] },
    });
  });

  test('a session without a transcript is read', () => {
    expect(inputOf({ transcript_path: null }).sender).not.toHaveProperty('transcriptPath');
  });

  test('a prompt of a sub-agent is not from the user', () => {
    expect(inputOf(EVENTS.UserPromptSubmit).event).toMatchObject({ isFromUser: true });
    const inner = { ...EVENTS.UserPromptSubmit, agent_id: 'a', agent_type: 'worker' };
    expect(inputOf(inner).event).toMatchObject({ isFromUser: false });
  });

  test('an MCP tool and its failure are known', () => {
    const { event } = inputOf({
      ...EVENTS.PostToolUse,
      tool_name: 'mcp__files__read',
      tool_response: { content: [], isError: true },
    });
    expect(event).toMatchObject({ use: { server: 'files', tool: 'read' }, isError: true });
  });

  test('a tool that may be of two servers is known to be', () => {
    const { event } = inputOf({ tool_name: 'mcp__a__b__c' });
    expect(event).toMatchObject({ use: { server: 'a', tool: 'b__c', isServerUncertain: true } });
    const { event: plain } = inputOf({ tool_name: 'mcp__a__b_c' });
    expect(plain).not.toHaveProperty('use.isServerUncertain');
  });

  test('arguments that stand twice are not understood', () => {
    const text = JSON.stringify(TOOL).replace('"tool_input":{', '"tool_input":{"command":"a",');
    expect(codex.read(text)).toBeTypeOf('string');
  });
});

describe('answering', () => {
  test('nothing to say changes nothing', () => {
    for (const name of NAMES) expect(effectOf(name, { do: 'pass' })).toEqual({ kind: 'goes_on' });
  });

  test('a refusal holds with every reason', () => {
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), hostileText, (name, reason) => {
        const { kind } = effectOf(name, { do: 'refuse', reason });
        expect(kind).toBe(name === 'PostToolUse' ? 'shows' : 'refused');
      }),
      runs(300),
    );
  });

  test('a question is a refusal, because the tool would run', () => {
    expect(effectOf('PreToolUse', { do: 'ask', reason: 'Is it?' })).toEqual({
      kind: 'refused',
      reason: 'Is it?',
    });
  });

  test.each([
    ['deep', `{"a":${'['.repeat(125)}${']'.repeat(125)}}`],
    ['not a number of Rust', '{"a":1e999}'],
    ['half a character', String.raw`{"a":"\ud800"}`],
    ['half a character in a key', String.raw`{"\ud800":1}`],
    ['no object', '[1]'],
    ['a key twice', '{"a":1,"a":2}'],
  ])('arguments that Codex would not parse are refused: %s', (_what, argsText) => {
    expect(effectOf('PreToolUse', { do: 'rewrite', argsText })).toMatchObject({ kind: 'refused' });
  });

  test('a tool runs with the rewritten arguments or not at all', () => {
    fc.assert(
      fc.property(anyArgsText, (argsText) =>
        isRewrittenOrRefused(effectOf('PreToolUse', { do: 'rewrite', argsText }), argsText),
      ),
      runs(300),
    );
  });

  test('a model never gets the output that was to be replaced', () => {
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.jsonValue()), hostileText, (value, note) => {
        const output = JSON.parse(JSON.stringify(value)) as JsonValue;
        expect(effectOf('PostToolUse', { do: 'replace', output, note }).kind).toBe('shows');
      }),
      runs(300),
    );
  });

  test('what could not be read does not go on, and never starts another turn', () => {
    for (const name of [...NAMES, undefined, 'NewEvent']) {
      expect(codex.refuseUnread(name, '')).toMatchObject({ exitCode: 2, stderr: /\S/ });
    }
    expect(codex.refuseUnread('Stop', 'Broken.')).toMatchObject({ exitCode: 0 });
    const { event } = inputOf({ hook_event_name: 'Stop' });
    expect(codex.write(event, { do: 'refuse', reason: 'No.' })).toMatchObject({ exitCode: 0 });
  });
});

test('reading never throws', () => {
  fc.assert(
    fc.property(damagedInputs(fixtures), (body) => codex.read(body) !== ''),
    runs(600),
  );
});

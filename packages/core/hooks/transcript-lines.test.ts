import { expect, test } from 'vitest';
import {
  claudeTranscriptLine,
  codexTranscriptArgs,
  codexTranscriptLine,
} from './transcript-lines.ts';

const line = (value: object): string => JSON.stringify(value);
const result = (id: string, content: unknown, is_error?: boolean) =>
  line({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
  });

test('the transcript of Claude Code names its uses, and which of them have run', () => {
  const use = { type: 'tool_use', id: 'a', name: 'Bash', input: { command: 'ls' } };
  const said = line({
    type: 'assistant',
    message: { content: [{ type: 'text', text: 'x' }, use] },
  });
  expect(claudeTranscriptLine(said)).toEqual({ uses: [{ useId: 'a', tool: 'Bash' }], ran: [] });
  expect(claudeTranscriptLine(result('a', 'out')).ran).toEqual(['a']);
  expect(claudeTranscriptLine(result('a', 'Exit code 3\nx', true)).ran).toEqual(['a']);
  expect(claudeTranscriptLine(result('a', 'No such tool available: Glob', true)).ran).toEqual([]);
});

test('the rollout of Codex names its uses, and which of them have run', () => {
  const item = (payload: object) => line({ type: 'response_item', payload });
  const call = item({ type: 'function_call', name: 'write_stdin', arguments: '{}', call_id: 'c' });
  expect(codexTranscriptLine(call)).toEqual({
    uses: [{ useId: 'c', tool: 'write_stdin' }],
    ran: [],
  });
  const patch = item({ type: 'custom_tool_call', name: 'apply_patch', input: '', call_id: 'd' });
  expect(codexTranscriptLine(patch).uses).toEqual([{ useId: 'd', tool: 'apply_patch' }]);
  const plan = item({ type: 'function_call', name: 'update_plan', arguments: '{}', call_id: 'e' });
  expect(codexTranscriptLine(plan).uses).toEqual([]);
  expect(codexTranscriptLine(item({ type: 'function_call_output', call_id: 'c' })).ran).toEqual([
    'c',
  ]);
});

test.each([
  '',
  'x',
  '{"tool_use',
  '{"message":{"content":"tool_use"}}',
  '[{"tool_use_call":1}]',
  'null',
])('any other line says nothing: %s', (text) => {
  expect(claudeTranscriptLine(text)).toEqual({ uses: [], ran: [] });
  expect(codexTranscriptLine(text)).toEqual({ uses: [], ran: [] });
});

test('the rollout of Codex tells what its hook does not', () => {
  const args = { cmd: 'ls', workdir: '../x', tty: true, shell: 'zsh', login: false };
  const payload = { type: 'function_call', call_id: 'c', arguments: JSON.stringify(args) };
  const said = line({ type: 'response_item', payload });
  expect(codexTranscriptArgs(said, 'c')).toEqual({ workdir: '../x', tty: true, shell: 'zsh' });
  expect(codexTranscriptArgs(said, 'd')).toBeUndefined();
  const bare = line({ payload: { ...payload, arguments: '{"tty":false}' } });
  expect(codexTranscriptArgs(bare, 'c')).toEqual({});
});

const cell = (input: string) =>
  line({ payload: { type: 'custom_tool_call', name: 'exec', input, call_id: 'c' } });
const TYPING = 'const r = await tools.exec_command({cmd: "bash", tty: true}); r.session_id';

test('in code mode, the script that runs commands tells whether one may be in a terminal', () => {
  expect(codexTranscriptArgs(cell(TYPING), 'exec-1')).toEqual({ tty: true });
  expect(codexTranscriptArgs(cell('await tools.exec_command({cmd: "ls"})'), 'exec-1')).toEqual({});
  expect(codexTranscriptArgs(cell(TYPING), 'call_1')).toBeUndefined();
  expect(codexTranscriptArgs(line({ payload: { type: 'message' } }), 'exec-1')).toBeUndefined();
});

test('in code mode, a script that types into a command is a use of that tool', () => {
  const typing = 'await tools.write_stdin({session_id: 1, chars: "x"})';
  expect(codexTranscriptLine(cell(typing)).uses).toEqual([{ useId: 'c', tool: 'write_stdin' }]);
  expect(codexTranscriptLine(cell(TYPING)).uses).toEqual([]);
});

// Arguments that the policy changes, as each client gets them: replaced secrets, and corrections that a hint suggests.
import { isObject } from '@subluminal/contracts';
import { describe, expect, test, vi } from 'vitest';
import { after, before, openHookDesk, useOf } from './testing/hook-desk.ts';

const HEAD = `policy_id: p
version: "1.0.0"
mode: control
defaults: {decision_on_error: BLOCK}
selectors: {}
`;
const CORRECTS = `${HEAD}rules:
  - rule_id: quick
    kind: deny
    enabled: true
    severity: warn
    match: {args: {numeric_range: {timeout: {min: 61}}}}
    effect: {action: BLOCK, message: That takes too long., hint: {hint_text: Wait a minute at most., suggest: {clamp: {timeout: {max: 60}}}}}
`;
const REDACTS = `${HEAD}rules: []\ncontent: {outbound: {secret: redact}}\n`;
const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5'].join('_');
const APPLY = { '.subluminal/config.toml': '[hooks]\nsuggestions = "apply"\n' };
const having = (text: string): unknown => expect.stringContaining(text);

const BEFORE_TOOL: { readonly [client: string]: string } = {
  'claude-code': 'PreToolUse',
  codex: 'PreToolUse',
  'gemini-cli': 'BeforeTool',
  'copilot-cli': 'PreToolUse',
  cursor: 'preToolUse',
};

/** What a client is answered before it uses its shell. */
async function answered(client: string, policy: string, tool_input: object) {
  const { desk, cwd, events } = await openHookDesk({ policy, files: APPLY });
  const hook_event_name = BEFORE_TOOL[client];
  const body = { session_id: 's', cwd, hook_event_name, tool_name: 'Bash', tool_input };
  const { stdout, exitCode } = await desk.handle(client, JSON.stringify(body));
  const said: unknown = stdout === '' ? {} : JSON.parse(stdout);
  if (!isObject(said)) throw new Error(stdout);
  const specific = isObject(said['hookSpecificOutput']) ? said['hookSpecificOutput'] : {};
  const args = specific['updatedInput'] ?? specific['tool_input'] ?? said['modifiedArgs'];
  return { exitCode, args, stdout, specific, events };
}

describe.each(['claude-code', 'codex', 'gemini-cli', 'copilot-cli'])('%s', (client) => {
  test('runs a tool with the arguments that the hint suggests', async () => {
    const { args, exitCode, events } = await answered(client, CORRECTS, {
      command: 'sleep 90',
      timeout: 90,
    });
    expect({ args, exitCode }).toEqual({ args: { command: 'sleep 90', timeout: 60 }, exitCode: 0 });
    expect(events('tool_call_decision').map(({ decision }) => decision?.action)).toEqual([
      'REJECT_WITH_HINT',
      'ALLOW',
    ]);
  });

  test('runs a tool without the secret that the policy replaces', async () => {
    const { args, stdout } = await answered(client, REDACTS, { command: `echo ${TOKEN}` });
    expect(args).toMatchObject({ command: having('echo ') });
    expect(stdout).not.toContain(TOKEN);
  });
});

test.each([
  ['corrected', CORRECTS, { command: 'sleep 90', timeout: 90 }, 'Wait a minute at most.'],
  ['replaced', REDACTS, { command: `echo ${TOKEN}` }, 'cannot be replaced here'],
])('Cursor runs nothing with arguments that are to be %s', async (_how, policy, input, reason) => {
  const { exitCode, stdout } = await answered('cursor', policy, input);
  expect(exitCode).toBe(2);
  expect(stdout).toContain(reason);
  expect(stdout).not.toContain(TOKEN);
});

test('Claude Code tells its model why the arguments were corrected', async () => {
  const { specific } = await answered('claude-code', CORRECTS, { command: 'x', timeout: 90 });
  expect(specific['additionalContext']).toMatch(/corrected.*\n.*too long/);
});

describe('a suggestion', () => {
  const slow = () => useOf('Bash', { command: 'sleep 90', timeout: 90 });

  test('is only told unless the setting says otherwise', async () => {
    const { tell, events } = await openHookDesk({ policy: CORRECTS });
    expect(await tell(before(slow()))).toMatchObject({
      do: 'refuse',
      reason: having('"timeout":60'),
    });
    expect(events('tool_call_start')).toHaveLength(1);
  });

  test('runs, and its output belongs to it', async () => {
    const { tell, events } = await openHookDesk({ policy: CORRECTS, files: APPLY });
    const use = slow();
    expect(await tell(before(use))).toMatchObject({ do: 'rewrite' });
    const ran = { ...use, argsText: '{"command":"sleep 90","timeout":60}' };
    expect(await tell(after(ran, 'done'))).toEqual({ do: 'pass' });
    await vi.waitFor(() =>
      expect(events('tool_call_end').map(({ status }) => status)).toEqual(['ERROR', 'OK']),
    );
  });

  test('that the policy refuses, too, does not run', async () => {
    const never = `  - {rule_id: never, kind: deny, enabled: true, severity: warn, match: {args: {key_equals: {timeout: 60}}}, effect: {action: BLOCK, message: Never.}}\n`;
    const { tell, events } = await openHookDesk({ policy: CORRECTS + never, files: APPLY });
    expect(await tell(before(slow()))).toMatchObject({ do: 'refuse', reason: having('too long') });
    expect(events('tool_call_decision').map(({ decision }) => decision?.rule_id)).toEqual([
      'quick',
      'never',
    ]);
  });

  test('is not made of a tool that has run already', async () => {
    const { tell, events, degraded } = await openHookDesk({ policy: CORRECTS, files: APPLY });
    expect(await tell(after(slow(), 'done'))).toMatchObject({ do: 'replace' });
    expect(events('tool_call_start')).toHaveLength(1);
    expect(degraded).toEqual([having('without a decision')]);
  });

  test('that the client cannot write is told', async () => {
    const { tell } = await openHookDesk({ policy: CORRECTS, files: APPLY });
    const use = useOf('Bash', { command: 'unwritable', timeout: 90 });
    expect(await tell(before(use))).toMatchObject({ do: 'refuse', reason: having('too long') });
  });
});

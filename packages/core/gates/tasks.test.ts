// The answer of a tool that comes by a task is judged as a direct answer of the tool.
import { describe, expect, it } from 'vitest';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { answer, arrived, optionsOf, textResult } from './guard.test-support.ts';
import { createGuard } from './guard.ts';

const CALL = { call: { callId: 'c1', tool: 'fetch' } };
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const state = (result: unknown) => ({ taskId: 't1', status: 'completed', result });
/** The three ways in which the answer of a tool comes by a task. */
const WAYS = [
  ['tasks/result', (result: unknown) => answer('tasks/result', result, CALL)],
  ['tasks/get', (result: unknown) => answer('tasks/get', state(result), CALL)],
  [
    'notifications/tasks',
    (result: unknown) =>
      answer('notifications/tasks', state(result), { kind: 'notification', ...CALL }),
  ],
] as const;

describe.each(WAYS)('the result of a task that comes by %s', (method, messageWith) => {
  const MANIFEST =
    'server: mail\nallowed_tools: [{ name: fetch, max_answer_bytes: 200 }, { name: ask }]\n';
  const kind = method === 'notifications/tasks' ? 'notification' : 'answer';

  it('is held to the limit of the tool that began it', async () => {
    const guard = createGuard(optionsOf({ manifest: await manifestOf(MANIFEST) }));
    expect(guard.wants('in', kind, method)).toBe(true);
    const held = guard.passing('in', messageWith(textResult('x'.repeat(300))), 0);
    expect(held).toMatchObject({ kind: 'refused', reason_code: 'RESULT_TOO_LARGE' });
    expect(JSON.stringify(held)).toContain('`fetch`');
    const other = {
      ...messageWith(textResult('x'.repeat(300))),
      call: { callId: 'c', tool: 'ask' },
    };
    expect(guard.passing('in', other, 0).kind).toBe('same');
  });

  it('is marked as content of its tool, and scanned', () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'redact' } } }));
    const message = messageWith(textResult(`hello ${TOKEN}`));
    const shown = JSON.stringify(arrived(message, guard.passing('in', message, 0)));
    expect(shown).toContain('tool=\\"fetch\\"');
    expect(shown).toContain('[redacted:github-token]');
    expect(shown).not.toContain(TOKEN);
  });

  it('is held back where the policy blocks what it holds', () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'block' } } }));
    expect(guard.passing('in', messageWith(textResult(TOKEN)), 0)).toMatchObject({
      kind: 'refused',
      reason_code: 'CONTENT_BLOCKED',
      summary: expect.stringContaining('The answer of `fetch`') as string,
    });
  });
});

describe('the state of a task', () => {
  it('is scanned beside the result', () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'block' } } }));
    const value = { ...state(textResult('fine')), statusMessage: TOKEN };
    expect(guard.passing('in', answer('tasks/get', value, CALL), 0)).toMatchObject({
      kind: 'refused',
    });
  });
});

describe('a list of tasks', () => {
  const tasks = ['mine', 'forbidden', 'foreign'].map((taskId) => ({ taskId, status: 'working' }));
  const tools: { readonly [id: string]: string } = { mine: 'fetch', forbidden: 'delete' };
  const taskCall = (id: string) => {
    const tool = tools[id];
    return tool === undefined ? undefined : { callId: 'c', tool };
  };
  const listed = (value: unknown) => answer('tasks/list', value, { taskCall });
  const shown = async (manifest: string) => {
    const guard = createGuard(optionsOf({ manifest: await manifestOf(manifest) }));
    expect(guard.wants('in', 'answer', 'tasks/list')).toBe(true);
    const message = listed({ tasks, nextCursor: 'x' });
    return arrived(message, guard.passing('in', message, 0));
  };

  it('has only tasks of this session whose tools the manifest allows', async () => {
    const manifest = 'server: mail\nallowed_tools: [{ name: fetch }]\n';
    expect(await shown(manifest)).toEqual({ tasks: tasks.slice(0, 1), nextCursor: 'x' });
  });

  it('has tasks of others where the manifest allows what it does not list', async () => {
    const manifest =
      'server: mail\ndefault: auto_execute\ntiers: { forbidden: { actions: [delete] } }\n';
    expect(await shown(manifest)).toEqual({ tasks: [tasks[0], tasks[2]], nextCursor: 'x' });
  });

  it('is refused when it is none, and when it is too large to be looked at', async () => {
    const manifest = await manifestOf('server: mail\nallowed_tools: [{ name: fetch }]\n');
    const guard = createGuard(optionsOf({ manifest }));
    expect(guard.passing('in', listed({ tasks: {} }), 0)).toMatchObject({ kind: 'refused' });
    expect(guard.unseen('in', 'answer', 'tasks/list')).toMatchObject({ kind: 'refused' });
  });
});

import { describe, expect, it } from 'vitest';
import { manifestOf } from '../surface/gmail.test-support.ts';
import { answer, optionsOf, request, result, textResult } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import { callOfTask, newTaskTools, resultAsked, taskBegun } from './task-tools.ts';

const RELATED = 'io.modelcontextprotocol/related-task';
const task = (taskId: string) => ({ task: { taskId, status: 'working' } });
const related = (taskId: string) => ({ content: [], _meta: { [RELATED]: { taskId } } });
const call = (tool: string) => ({ callId: tool, tool });

describe('the result of a task', () => {
  it('is held to the limit of the tool that began it', async () => {
    const manifest = await manifestOf(
      'server: mail\nallowed_tools: [{ name: fetch, max_answer_bytes: 200 }, { name: ask }]\n',
    );
    const guard = createGuard(optionsOf({ manifest }));
    expect(guard.wants('out', 'request', 'tasks/result')).toBe(true);
    guard.passing('in', result('fetch', task('t1')), 0);
    guard.passing('out', request('tasks/result', { taskId: 't1' }), 0);
    const held = guard.passing('in', answer('tasks/result', textResult('x'.repeat(300))), 0);
    expect(held).toMatchObject({ kind: 'refused', reason_code: 'RESULT_TOO_LARGE' });
    expect(JSON.stringify(held)).toContain('`fetch`');

    guard.passing('in', result('ask', task('t2')), 0);
    guard.passing('out', request('tasks/result', { taskId: 't2' }), 0);
    const whole = guard.passing('in', answer('tasks/result', textResult('x'.repeat(300))), 0);
    expect(whole.kind).toBe('same');
  });

  it('is named after its tool where it is marked, also when it comes by tasks/get', () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'block' } } }));
    guard.passing('in', result('fetch', task('t1')), 0);
    guard.passing('out', request('tasks/result', { taskId: 't1' }), 0);
    const marked = guard.passing('in', answer('tasks/result', textResult('hello')), 0);
    expect(JSON.stringify(marked)).toContain('tool=\\"fetch\\"');
    const value = { taskId: 't1', result: textResult('ghp_16C7e42F292c6912E7710c838347Ae178B4a') };
    expect(guard.passing('in', answer('tasks/get', value), 0)).toMatchObject({
      kind: 'refused',
      summary: expect.stringContaining('The answer of `fetch`') as string,
    });
  });

  it('is found among several by the task that the server names', () => {
    const tasks = newTaskTools();
    taskBegun(tasks, call('a'), task('1'));
    taskBegun(tasks, call('b'), task('2'));
    resultAsked(tasks, { taskId: '1' });
    resultAsked(tasks, { taskId: '2' });
    expect(callOfTask(tasks, related('2'))?.tool).toBe('b');
    // Only one is left: whatever the server says, this is its answer.
    expect(callOfTask(tasks, related('2'))?.tool).toBe('a');
    expect(callOfTask(tasks, { content: [] })).toBeUndefined();
  });

  it('is forgotten beyond a limit of tasks, the oldest first', () => {
    const tasks = newTaskTools();
    for (let at = 0; at < 3_000; at++) {
      taskBegun(tasks, call(`tool-${at}`), task(`t${at}`));
      resultAsked(tasks, { taskId: `t${at}` });
    }
    expect(tasks.calls.size).toBe(1_000);
    expect(tasks.asked.size).toBe(1_000);
    expect(callOfTask(tasks, related('t0'))).toBeUndefined();
    expect(callOfTask(tasks, related('t2999'))?.tool).toBe('tool-2999');
  });
});

import type { StewardAnswers } from '@subluminal/contracts';
import type { Entry } from '@subluminal/plane/approvals';
import picocolors from 'picocolors';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ChatPorts, ChatView } from './chat-view.ts';

type Updates = StewardAnswers['updates'];

const HASH = 'a'.repeat(64);
const STEP = {
  ...{ n: 1, server: 'files', tool: 'read', args: { path: '/srv/a' }, reasoning: 'why' },
  ...{ judgements: [], run_id: 'run', call_id: 'c', result: 'text' },
  state: 'done',
} as const;
const TASK: Updates['tasks'][number] = {
  ...{ id: 't1', conversation_id: 'c1', purpose: 'agent', request: 'Go.', reason: null },
  ...{ cost_micros: 0, created_at_ms: 1, ended_at_ms: 2 },
  asked_by: 'user',
  state: 'done',
  steps: [STEP],
};
const REPLY = { n: 2, role: 'assistant', text: 'It is done.', task_id: 't1', at_ms: 2 } as const;
const DONE: Updates = {
  ...{ version: 2, run_id: 'run-1', sub_agent_runs: ['run-2'], messages: [REPLY], tasks: [TASK] },
  ...{ open_changes: [], is_idle: true },
};
const BEFORE: Updates = {
  ...{ version: 1, run_id: null, sub_agent_runs: [], messages: [], tasks: [], open_changes: [] },
  is_idle: true,
};

function entry(runId = 'run-1'): Entry {
  return {
    kind: 'request',
    state: 'pending',
    outcome: null,
    sha256: HASH,
    request: {
      v: 1,
      id: 'ask-1',
      wait: 'hold',
      created_at: '2026-01-31T12:00:00Z',
      ...{ expires_at: '2026-01-31T12:05:00Z', asked_by: { pid: 1, start: 'x' } },
      agent: { agent_id: 'steward', client: 'custom', env: 'dev' },
      call: {
        ...{ run_id: runId, call_id: 'call-1', server: 'email', tool: 'send', args: {} },
        ...{ args_hash: HASH, policy_hash: HASH, rule_id: 'ask', args_complete: true },
        ...{ risk: [], reason: 'Because.' },
      },
    },
  };
}

function changeWith(id: string, lines: readonly string[]): StewardAnswers['changes/show'] {
  return {
    change: {
      ...{ id, kind: 'files', state: 'open', why: 'Asked.', run_id: 'run-1', proposed_at_ms: 1 },
      ...{ is_modified: false, by: null, decided_at_ms: null, paths: ['/srv/a'] },
    },
    ...{ sha256: HASH, loosens: [], notes: [] },
    files: [
      {
        ...{ path: '/srv/a', to: null, kind: 'create', before: null, after: null },
        diff: `${lines.join('\n')}\n`,
      },
    ],
  };
}

let said: string;
let noted: string;
let sent: string[];
let stops: number;
let verdicts: string[];
let ends: boolean[];
let nowMs: number;
beforeEach(() => {
  [said, noted, sent, stops, verdicts, ends] = ['', '', [], 0, [], []];
  nowMs = Date.parse('2026-01-31T12:00:00Z');
});

function open(changes: Partial<ChatPorts> = {}): ChatView {
  return new ChatView({
    say: (text) => {
      said += text;
    },
    note: (text) => {
      noted += text;
    },
    colors: picocolors.createColors(false),
    nowMs: () => nowMs,
    render: ({ request }) => `[${request.call.tool}]\n`,
    send: async (text) => {
      sent.push(text);
      return 't1';
    },
    stop: () => {
      stops += 1;
    },
    decide: (_entry, state) => {
      verdicts.push(state);
      return undefined;
    },
    showChange: async (id) => changeWith(id, ['+hi']),
    decideChange: async ({ change: { id } }, verdict) => {
      verdicts.push(`${verdict} ${id}`);
      return `${id}: ${verdict}.`;
    },
    forbidden: undefined,
    end: (hasWorked) => ends.push(hasWorked),
    isSingle: false,
    ...changes,
  });
}

describe('the chat', () => {
  test('shows each step once, and the reply', async () => {
    const view = open();
    view.line('Go.');
    await Promise.resolve();
    view.onUpdates(DONE);
    view.onUpdates({ ...DONE, messages: [] });
    expect(sent).toEqual(['Go.']);
    expect(said).toBe('It is done.\n');
    expect(noted.match(/✓ files\.read/g)).toHaveLength(1);
    expect(view.lastMessage).toBe(2);
  });

  test('says of a step that failed what the tool has answered', () => {
    const result =
      '[EXTERNAL_CONTENT source="mcp:files" tool="read"]\nIt is not there.\n[/EXTERNAL_CONTENT]';
    const failed = { ...TASK, steps: [{ ...STEP, state: 'failed', result } as const] };
    open().onUpdates({ ...DONE, tasks: [failed] });
    expect(noted).toContain('✗ files.read {"path":"/srv/a"}: It is not there.\n');
  });

  test('one message ends with its task, not with what was there before', async () => {
    const view = open({ isSingle: true });
    view.line('Go.');
    view.onUpdates(BEFORE);
    await Promise.resolve();
    view.onUpdates(BEFORE);
    expect(ends).toEqual([]);
    view.onUpdates(DONE);
    expect(ends).toEqual([true]);
  });

  test('one message whose task failed ends as one that did not work', async () => {
    const view = open({ isSingle: true });
    view.line('Go.');
    await Promise.resolve();
    view.onUpdates({ ...DONE, tasks: [{ ...TASK, state: 'failed' }] });
    expect(ends).toEqual([false]);
  });

  test('says its commands at the beginning and on /help, which is no message', () => {
    const view = open();
    view.greet();
    view.line('/help');
    expect(noted.match(/\/quit leaves/g)).toHaveLength(2);
    expect(sent).toEqual([]);
  });

  test('says once that it works when nothing is seen for a while', async () => {
    const view = open();
    view.line('Go.');
    view.stillWorks();
    view.stillWorks();
    expect(noted).toBe('Steward works. Ctrl-C stops it.\n');
    await Promise.resolve();
    view.onUpdates(DONE);
    view.stillWorks();
    expect(noted.match(/works/g)).toHaveLength(1);
  });

  test('text of a model cannot steer the terminal', () => {
    open().onUpdates({ ...DONE, messages: [{ ...REPLY, text: 'a\u001b[2Jb\nc' }] });
    expect(said).not.toContain('\u001b');
    expect(said.split('\n')).toHaveLength(3);
  });

  test('Ctrl-C stops the task, and leaves when it comes again', async () => {
    const view = open();
    view.line('Go.');
    view.interrupt();
    expect([stops, ends]).toEqual([1, []]);
    view.interrupt();
    expect(ends).toEqual([false]);
  });

  test('Ctrl-C while nothing is under way leaves when it comes again', () => {
    const view = open();
    view.interrupt();
    expect([stops, ends]).toEqual([0, []]);
    view.interrupt();
    expect(ends).toEqual([false]);
  });
});

describe('a confirmation', () => {
  function asking(changes: Partial<ChatPorts> = {}): ChatView {
    const view = open(changes);
    view.onUpdates({ ...DONE, messages: [], is_idle: false });
    view.onRequest(entry());
    nowMs += 1_000;
    return view;
  }

  test.each([
    ['y', 'approved'],
    ['no', 'rejected'],
  ])('is answered by %s', (text, state) => {
    const view = asking();
    expect(noted).toContain('[send]');
    view.line(text);
    expect(verdicts).toEqual([state]);
    expect(sent).toEqual([]);
  });

  test('is not answered by anything else, and nothing of it is sent', () => {
    const view = asking();
    for (const text of ['', 'maybe', 'yy']) view.line(text);
    expect([verdicts, sent]).toEqual([[], []]);
    view.line('d');
    expect(noted).toContain(HASH);
  });

  test('is not answered by what was typed before it could be read', () => {
    const view = open();
    view.onUpdates({ ...DONE, messages: [], is_idle: false });
    view.onRequest(entry());
    view.line('y');
    expect(verdicts).toEqual([]);
  });

  test('of a sub-agent is shown', () => {
    const view = open();
    view.onUpdates({ ...DONE, messages: [], is_idle: false });
    view.onRequest(entry('run-2'));
    expect(noted).toContain('[send]');
  });

  test('is decided beside a single message, where other lines mean nothing', () => {
    const view = asking({ isSingle: true });
    view.answer('y');
    view.answer('And then?');
    expect([verdicts, sent]).toEqual([['approved'], []]);
  });

  test('of another run is not shown', () => {
    const view = open();
    view.onUpdates({ ...DONE, messages: [], is_idle: false });
    view.onRequest(entry('run-of-another'));
    expect(noted).not.toContain('[send]');
  });

  test('where nobody may decide is announced with the command that does', () => {
    asking({ forbidden: 'there is no terminal.' }).line('y');
    expect(noted).toMatch(
      /^email\.send waits 5 minutes for a person: in a terminal, run `sub approvals approve ask-1` or/m,
    );
    expect(verdicts).toEqual([]);
  });

  test('that somebody else has decided is over', () => {
    const view = asking();
    view.onEnd({ kind: 'missing', id: 'ask-1' });
    expect(noted).toMatch(/\nThis was decided elsewhere, or its time is over\.\n$/);
    view.line('y');
    expect(noted).toMatch(/not sent\.\n$/);
    view.line('And now?');
    view.line('y');
    expect([verdicts, sent]).toEqual([[], ['And now?', 'y']]);
  });
});

describe('a proposed change', () => {
  const CHANGE = { id: 'change-1', sha256: HASH };

  /** The task has ended with a change that waits. */
  async function proposed(changes: Partial<ChatPorts> = {}): Promise<ChatView> {
    const view = open(changes);
    view.line('Go.');
    await Promise.resolve();
    view.onUpdates({ ...DONE, open_changes: [CHANGE] });
    await Promise.resolve();
    nowMs += 1_000;
    return view;
  }

  test.each([
    ['y', 'approve change-1'],
    ['no', 'reject change-1'],
  ])('is shown when the task has ended, and %s decides it', async (text, verdict) => {
    const view = await proposed();
    expect(noted).toMatch(/^change-1: files, open$[^]*^\+hi$[^]*Apply this\? [^\n]*$/m);
    expect(noted).not.toMatch(/> $/);
    view.line(text);
    await Promise.resolve();
    expect([verdicts, sent]).toEqual([[verdict], ['Go.']]);
    await Promise.resolve();
    expect(noted).toMatch(/: change-1: \w+\.\n> $/);
  });

  test('that is left for later is asked about again only when it is another one', async () => {
    const view = await proposed();
    view.line('l');
    expect(noted).toMatch(/sub steward review show change-1\n> $/);
    view.onUpdates({ ...DONE, messages: [], open_changes: [CHANGE] });
    expect(noted).toMatch(/> $/);
    view.onUpdates({ ...DONE, messages: [], open_changes: [{ ...CHANGE, sha256: 'b' }] });
    await Promise.resolve();
    expect(noted).toMatch(/Apply this\? [^\n]*$/);
    expect(verdicts).toEqual([]);
  });

  test('is not decided by what was typed before it could be read', async () => {
    const view = await proposed();
    nowMs -= 900;
    view.line('y');
    expect(verdicts).toEqual([]);
  });

  test('of many lines is approved only when all of them were shown', async () => {
    const lines = Array.from({ length: 500 }, (_, n) => `+line ${n}`);
    const view = await proposed({ showChange: async (id) => changeWith(id, lines) });
    expect(noted).not.toContain('+line 499');
    view.line('y');
    expect(verdicts).toEqual([]);
    view.line('a');
    expect(noted).toContain('+line 499');
    view.line('y');
    expect(verdicts).toEqual(['approve change-1']);
  });

  test('cannot steer the terminal', async () => {
    await proposed({ showChange: async (id) => changeWith(id, ['+\u001b[2J\u202e']) });
    expect(noted).not.toMatch(/[\u001b\u202e]/);
  });

  test('keeps a single message open until it is decided', async () => {
    const view = await proposed({ isSingle: true });
    expect(ends).toEqual([]);
    view.answer('y');
    await Promise.resolve();
    await Promise.resolve();
    expect([verdicts, ends]).toEqual([['approve change-1'], [true]]);
  });

  test('waits elsewhere when the input ends', async () => {
    const view = await proposed({ isSingle: true });
    view.inputEnded();
    expect(noted).toContain('sub steward review show change-1');
    expect([verdicts, ends]).toEqual([[], [true]]);
  });

  test('where nobody may decide is announced with the command that shows it', async () => {
    await proposed({ isSingle: true, forbidden: 'there is no terminal.' });
    expect(noted).toContain('A change waits for you: sub steward review show change-1\n');
    expect([verdicts, ends]).toEqual([[], [true]]);
  });

  test('from before the chat is not asked about, only counted', () => {
    const view = open();
    view.skip(0, { ...BEFORE, open_changes: [CHANGE] });
    view.onUpdates({ ...BEFORE, open_changes: [CHANGE] });
    expect(noted).toBe('Still open from before: 1 change. See them with sub steward review.\n');
  });
});

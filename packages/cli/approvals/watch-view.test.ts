import type { Ended, Entry, GrantWish } from '@subluminal/plane/approvals';
import picocolors from 'picocolors';
import { beforeEach, describe, expect, test } from 'vitest';
import { listText } from './render-approval.ts';
import { WatchView } from './watch-view.ts';

function entry(tool: string): Entry {
  const hash = 'a'.repeat(64);
  const times = { created_at: '2026-01-31T12:00:00Z', expires_at: '2026-01-31T12:05:00Z' };
  return {
    kind: 'request',
    state: 'pending',
    outcome: null,
    sha256: hash,
    request: {
      v: 1,
      id: `id-${tool}`,
      ...times,
      wait: 'hold',
      asked_by: { pid: 1, start: 'x' },
      agent: { agent_id: 'coder', client: 'claude', env: 'dev' },
      call: {
        run_id: 'run-1',
        call_id: 'call-1',
        server: 'files',
        tool,
        args_hash: hash,
        policy_hash: hash,
        rule_id: 'ask',
        args: {},
        args_complete: true,
        risk: [],
        reason: 'Because.',
      },
    },
  };
}

let written: string;
let verdicts: [string, string, GrantWish['kind'] | undefined][];
let nowMs: number;
let ended: boolean;
let trouble: string | undefined;
let forbidden: string | undefined;
beforeEach(() => {
  [written, verdicts, nowMs, ended] = ['', [], 1_000_000_000_000, false];
  [trouble, forbidden] = [undefined, undefined];
});

function open(...tools: readonly string[]): WatchView {
  const view = new WatchView({
    write: (text) => {
      written += text;
    },
    nowMs: () => nowMs,
    colors: picocolors.createColors(false),
    render: ({ request }) => `[${request.call.tool}]\n`,
    decide: ({ request }, { state, wish }) => {
      verdicts.push([request.call.tool, state, wish?.kind]);
      return trouble;
    },
    forbidden,
    end: () => {
      ended = true;
    },
  });
  for (const tool of tools) view.onRequest(entry(tool));
  nowMs += 1_000;
  return view;
}

function end(tool: string): Ended {
  const outcome = {
    v: 1,
    id: `id-${tool}`,
    request_sha256: 'a'.repeat(64),
    state: 'approved',
    at: '2026-01-31T12:00:01Z',
    by: 'bob',
    channel: 'slack',
  } as const;
  return { ...entry(tool), state: 'approved', outcome };
}

describe('the keys of `sub approvals watch`', () => {
  test.each([
    ['a', 'approved'],
    ['r', 'rejected'],
  ])('%s decides about the call that is shown, and no other', (key, state) => {
    const view = open('one', 'two');
    expect(written).toContain('[one]');
    expect(written).not.toContain('[two]');
    view.key(key);
    expect(verdicts).toEqual([['one', state, undefined]]);
  });

  test('a key decides nothing about a call that has just come up', () => {
    const view = open('one', 'two');
    view.onEnd(end('one'));
    expect(written).toContain('[two]');
    view.key('a');
    expect(verdicts).toEqual([]);
    nowMs += 700;
    view.key('a');
    expect(verdicts).toEqual([['two', 'approved', undefined]]);
  });

  test.each(['aa', 'approve\r', '\u001b[A', 'x', ' '])(
    'decide nothing when they are %j',
    (text) => {
      const view = open('one');
      view.key(text);
      expect(verdicts).toEqual([]);
    },
  );

  test('a key decides nothing when nothing waits', () => {
    const view = open();
    view.key('a');
    expect(verdicts).toEqual([]);
  });

  test.each(['q', '\u0003', '\u0004'])('%j ends the watch', (key) => {
    open('one').key(key);
    expect([ended, verdicts]).toEqual([true, []]);
  });

  test('a grant is created only after its words were shown and confirmed', () => {
    const view = open('one');
    view.key('g');
    view.key('2');
    expect(written).toContain('With any arguments.');
    expect(written).toContain('in the run run-1 only');
    expect(verdicts).toEqual([]);
    view.key('n');
    view.key('y');
    expect(verdicts).toEqual([]);
    for (const key of ['g', '5', 'y']) view.key(key);
    expect(verdicts).toEqual([['one', 'approved', 'always']]);
  });

  test('any other key leaves the list of grants', () => {
    const view = open('one');
    for (const key of ['g', '9', 'r']) view.key(key);
    expect(verdicts).toEqual([['one', 'rejected', undefined]]);
  });

  test('a key decides nothing for a person who may not decide', () => {
    forbidden = 'this command is for a person.';
    const view = open('one');
    for (const key of ['a', 'g', 'r']) view.key(key);
    expect(verdicts).toEqual([]);
    expect(written).toContain('for a person');
  });
});

describe('the screen of `sub approvals watch`', () => {
  test('the screen shows how another person decided a call, and goes on with the next', () => {
    const view = open('one', 'two');
    view.onEnd(end('one'));
    expect(written).toMatch(/files\/one: approved by bob \(slack\).*\n\n\[two\]\n/);
    view.onEnd({ kind: 'missing', id: 'id-two' });
    expect(written).toContain('id-two is gone or damaged');
  });

  test('the screen reports a failed decision, and takes keys again', () => {
    trouble = 'the disk is full.\u001b[2J';
    const view = open('one');
    view.key('a');
    expect(written).toContain('the disk is full.\\u{1b}[2J');
    trouble = undefined;
    view.key('r');
    expect(verdicts).toHaveLength(2);
  });

  test('the screen counts the other pending calls without showing them', () => {
    open('one', 'two', 'three');
    expect(written).toContain('1 more call waiting.');
    expect(written).toContain('2 more calls waiting.');
  });
});

test('a held call whose process was killed is listed as one that nobody waits for', () => {
  const held = entry('write');
  const hinted: Entry = { ...held, request: { ...held.request, wait: 'hint' } };
  const output = { colors: picocolors.createColors(false), columns: 200, isTerminal: false };
  const listed = (isGone: boolean) => {
    const about = { nowMs: Date.parse('2026-01-31T12:00:00Z'), isAskerGone: () => isGone };
    const out = { ...output, write: () => true };
    return listText([held, hinted], about, out).split('\n').slice(1, 3);
  };
  expect(listed(true)).toEqual([
    expect.stringContaining('nobody waits'),
    expect.stringContaining('5 min'),
  ]);
  expect(listed(false).join()).not.toContain('nobody waits');
});

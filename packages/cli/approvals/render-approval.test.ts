import type { Entry } from '@subluminal/plane/approvals';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { requestText } from './render-approval.ts';

const HASH = 'a'.repeat(64);

function entry(about?: Entry['request']['about']): Entry {
  return {
    kind: 'request',
    state: 'pending',
    outcome: null,
    sha256: HASH,
    request: {
      v: 1,
      id: 'id-1',
      created_at: '2026-01-31T12:00:00Z',
      expires_at: '2026-01-31T12:05:00Z',
      wait: 'hold',
      asked_by: { pid: 1, start: 'x' },
      agent: { agent_id: 'steward', client: 'custom', env: 'dev' },
      call: {
        run_id: 'run-1',
        call_id: 'call-1',
        server: 'email',
        tool: 'send',
        args_hash: HASH,
        policy_hash: HASH,
        rule_id: 'gate:judgement',
        args: { to: 'bob@example.com' },
        args_complete: true,
        risk: [],
        reason: 'It was judged.',
      },
      ...(about !== undefined && { about }),
    },
  };
}

const context = { nowMs: 0, isAskerGone: false, colors: picocolors.createColors(false) };

test('a person sees what the agent says of its call, and it cannot write lines of its own', () => {
  const text = requestText(
    entry({
      reasoning: 'It is due.\n  state    approved',
      task: 'bills',
      channel: 'telegram',
      request: 'Pay my bills.',
      judgements: [{ by: 'egress', verdict: 'ESCALATE_TO_HUMAN', reason: 'a stranger' }],
    }),
    context,
  );
  expect(text).toContain('  user     Pay my bills.\n');
  expect(text).toContain('  says     It is due.\\u{a}  state    approved\n');
  expect(text).toContain('  task     bills (by telegram)\n');
  expect(text).toContain('  judged   ESCALATE_TO_HUMAN by egress: a stranger\n');
});

test('an agent that says nothing of its calls has no lines for it', () => {
  expect(requestText(entry(), context)).not.toMatch(/^ {2}(?:user|says|task|judged) /m);
});

import type { CallJudgement } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { asksFor, guardOf, stops } from './guard.test-support.ts';
import { approvalRule, people } from './people.test-support.ts';
import { answersOf, call, eventsOf, inShort, play, result } from './playbook.test-support.ts';
import type { ApprovalWanted, SessionConfig } from './types.ts';

const about = { reasoning: 'The invoice is due.', task: 'pay the bills', channel: 'terminal' };
const consents = { by: 'guardian', verdict: 'ALLOW', reason: 'It is asked for.' } as const;
const refuses = { by: 'guardian', verdict: 'BLOCK', reason: 'Nobody asked for it.' } as const;
const escalates = { by: 'egress', verdict: 'ESCALATE_TO_HUMAN', reason: 'A stranger.' } as const;

const asks = approvalRule('ask', 'hold', 'pay');

function judged(judgements: readonly CallJudgement[], config: Partial<SessionConfig> = {}) {
  return { mode: 'control', config: { brief: () => ({ judgements, about }), ...config } } as const;
}

describe('a call that was judged', () => {
  it('passes with a consent, which is on record', async () => {
    const { send } = await play([], judged([{ ...consents, model: 'small' }]));
    const commands = send('agent', call(1, 'pay'));
    expect(inShort(commands)).toContain('forward to server');
    expect(eventsOf(commands, 'tool_call_decision')).toMatchObject([
      { decision: { action: 'ALLOW' }, judgements: [{ ...consents, model: 'small' }] },
    ]);
  });

  it('is refused by one refusal among consents, and the agent hears why', async () => {
    verifies('ST-8.12');
    const { send } = await play([], judged([consents, refuses]));
    const commands = send('agent', call(1, 'pay'));
    expect(inShort(commands)).toEqual([
      'start pay',
      'decision BLOCK JUDGEMENT_BLOCKED',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    expect(answersOf(commands)).toMatchObject([
      { error: { data: { subluminal: { rule_id: 'gate:judgement' } } } },
    ]);
    expect(JSON.stringify(answersOf(commands))).toContain('Nobody asked for it.');
  });

  it('never passes by a consent where the rules or the gates refuse', async () => {
    const deny = { ...asks, rule_id: 'no', kind: 'deny', effect: { action: 'BLOCK' } } as const;
    const { sendInShort } = await play([deny], judged([consents]));
    expect(sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK DENYLIST_MATCH');
    const guard = guardOf({ content: stops('gate:content') });
    const gated = await play([], judged([escalates], { guard, approver: people() }));
    expect(gated.sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK BY_CONTENT');
  });

  it('waits for a person where one judgement wants that, with everything the person must know', async () => {
    const asked: ApprovalWanted[] = [];
    const { send, sendInShort, session } = await play(
      [],
      judged([consents, escalates], { approver: people([], asked) }),
    );
    expect(inShort(send('agent', call(1, 'pay', { to: 'bob' })))).toEqual([
      'start pay',
      'approval',
    ]);
    expect(asked).toMatchObject([
      {
        rule_id: 'gate:judgement',
        timeout_ms: 300_000,
        brief: { about, judgements: [escalates, consents] },
      },
    ]);
    expect(inShort(session.approval('call-1', 'approved', 5))).toContain(
      'forward to server in part',
    );
    expect(sendInShort('server', result(1))).toContain('end OK');
  });

  it('is refused when the person says no, or nobody can be asked', async () => {
    const { send, session } = await play([], judged([escalates], { approver: people() }));
    send('agent', call(1, 'pay'));
    const rejected = session.approval('call-1', 'rejected', 5);
    expect(inShort(rejected)).toContain('decision BLOCK APPROVAL_REJECTED');
    const alone = await play([], judged([escalates]));
    expect(alone.sendInShort('agent', call(1, 'pay'))).toContain(
      'decision BLOCK APPROVAL_UNAVAILABLE',
    );
  });

  it('asks a person although a lasting grant covers the rule of the policy', async () => {
    const asked: ApprovalWanted[] = [];
    const approver = people(['ask'], asked);
    const { sendInShort } = await play([asks], judged([escalates], { approver }));
    expect(sendInShort('agent', call(1, 'pay'))).toEqual(['start pay', 'approval']);
    expect(asked).toMatchObject([{ rule_id: 'gate:judgement' }]);
  });

  it('asks one question where the policy asks as well: the person sees both', async () => {
    const asked: ApprovalWanted[] = [];
    const config = { approver: people([], asked) };
    const { send, session } = await play([asks], judged([escalates], config));
    send('agent', call(1, 'pay'));
    expect(asked).toMatchObject([{ rule_id: 'ask', brief: { judgements: [escalates] } }]);
    expect(inShort(session.approval('call-1', 'approved', 5))).toContain(
      'forward to server in part',
    );
    expect(asked).toHaveLength(1);
  });

  it('asks once more where a gate asks after the judgement', async () => {
    const asked: ApprovalWanted[] = [];
    const guard = guardOf({ content: asksFor('gate:content') });
    const config = { guard, approver: people([], asked) };
    const { send, session } = await play([], judged([escalates], config));
    send('agent', call(1, 'pay'));
    expect(inShort(session.approval('call-1', 'approved', 5))).toEqual(['approval']);
    expect(asked.map(({ rule_id }) => rule_id)).toEqual(['gate:judgement', 'gate:content']);
  });

  it('keeps no secret of its brief, and no more than fits', async () => {
    const asked: ApprovalWanted[] = [];
    const redact = (text: string): string => text.replaceAll('hunter2', '***');
    const many = Array.from({ length: 40 }, () => consents);
    const long = { ...escalates, reason: `hunter2 ${'x'.repeat(5_000)}` };
    const { send, session } = await play(
      [],
      judged([...many, long], { redact, approver: people([], asked) }),
    );
    send('agent', call(1, 'pay'));
    const events = eventsOf(session.approval('call-1', 'approved', 5), 'tool_call_decision');
    const [{ judgements = [] } = {}] = events;
    expect(judgements).toHaveLength(16);
    expect(judgements[0]).toMatchObject({ by: 'egress' });
    expect(judgements[0]?.reason).toHaveLength(1_000);
    expect(JSON.stringify([events, asked])).not.toContain('hunter2');
  });
});

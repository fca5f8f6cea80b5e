import { addApproval } from '../store/projection.ts';
import { bad, calm, type EventMember } from './types.ts';

const ID_SHOWN_LENGTH = 8;
const APPROVAL_WORDS = {
  asked: 'waits for a person',
  approved: 'was approved',
  rejected: 'was rejected',
  expired: 'was not approved in time',
  cancelled: 'was given up before anybody had approved it',
  auto_approved: 'was approved by the development profile',
} as const;

export const approval: EventMember<'approval'> = {
  project(into, { run_id, call, approval: { rule_id, state, by } }) {
    // The answer may come by another producer, so it may be here before the question.
    if (state === 'asked') return;
    addApproval(into, { run_id, call_id: call.call_id, rule_id, state, decided_by: by ?? null });
  },
  notice(event, { serverName }) {
    const { id, rule_id, state, by, channel, grant_id } = event.approval;
    const where = serverName === null ? 'a call' : `a call to ${serverName}`;
    const isAnswered = state === 'approved' || state === 'rejected';
    const who = isAnswered && by !== undefined ? ` by ${by}${channel ? ` (${channel})` : ''}` : '';
    const through = grant_id === undefined || state !== 'approved' ? '' : `, grant ${grant_id}`;
    // First, so that it is never cut off. The end of an id tells it apart: its start is the time.
    // What a client asks its user is in no queue.
    const isQueued = state === 'asked' && id && channel === undefined;
    const asked = isQueued ? `sub approvals show ${id.slice(-ID_SHOWN_LENGTH)}: ` : '';
    const there = state === 'asked' && channel !== undefined ? ` (${channel})` : '';
    const text = `${asked}${where} ${APPROVAL_WORDS[state]}${there}${who}${through} (rule ${rule_id})`;
    return state === 'asked' ? bad('?', text) : calm('·', text);
  },
};

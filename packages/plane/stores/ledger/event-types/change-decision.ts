import { calm, type EventMember } from './types.ts';

const STATE_WORDS = {
  approved: 'was approved',
  rejected: 'was rejected',
  rolled_back: 'was rolled back',
  revoked: 'was revoked',
} as const;

export const changeDecision: EventMember<'change_decision'> = {
  notice({ change: { state, by, channel, title } }) {
    const who = channel === undefined ? by : `${by} (${channel})`;
    return calm('·', `a change ${STATE_WORDS[state]} by ${who}: ${title}`);
  },
};

export type { EgressLimits, EgressQuestion, SentMessage } from './judge-egress.ts';
export { judgeEgress, sentMessage } from './judge-egress.ts';
export { isListed, type StewardContacts } from './known-people.ts';
export { type Recipient, recipientsOf } from './recipients.ts';
export { replyFor } from './reply.ts';

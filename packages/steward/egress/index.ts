export type { EgressLimits, EgressQuestion, SentMessage } from './judge-egress.ts';
export { judgeEgress, sentMessage } from './judge-egress.ts';
export { isListed, type StewardContacts } from './known-people.ts';
export type { OutgoingCall } from './recipients.ts';
export type { ReplyOptions } from './reply.ts';
export { replyFor } from './reply.ts';

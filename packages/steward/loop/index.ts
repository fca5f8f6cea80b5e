export type { ConversationParts } from './conversations.ts';
export { Conversations, STOPPED_BY_USER } from './conversations.ts';
export { channelOf, stepJudge } from './step-judge.ts';
export type { Knowledge, LoopLimits, Proposal } from './types.ts';

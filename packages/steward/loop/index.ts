export { channelOf } from './channel-of.ts';
export { isFromElsewhere } from './context.ts';
export type { ConversationParts } from './conversations.ts';
export { Conversations, STOPPED_BY_USER } from './conversations.ts';
export { RecalledRuns } from './recalled-runs.ts';
export { stepJudge } from './step-judge.ts';
export type { Knowledge, LoopLimits, Proposal } from './types.ts';

export type { Asker, ConversationParts, Taken } from './conversations.ts';
export { Conversations, STOPPED_BY_USER } from './conversations.ts';
export { channelOf, stepJudge } from './step-judge.ts';
export type { Knowledge, LoopLimits, Proposal, StepJudge, StepOpinion } from './types.ts';

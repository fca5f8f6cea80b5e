export { itemTextsAt, memberText } from '../json/text-parts.ts';
export { batchMessages } from './batch.ts';
export type { CallBrief } from './call-brief.ts';
export type { Message } from './context.ts';
export type {
  GateVerdict,
  Guard,
  LimitVerdict,
  MessageVerdict,
} from './guard.ts';
export type { GateJudgement } from './judge-call.ts';
export { judgeCall } from './judge-call.ts';
export type { LargeHead } from './large-messages.ts';
export { Outline } from './peek/outline.ts';
export { peek } from './peek/peek.ts';
export type { Seen, SeenRequest } from './peek/types.ts';
export { leanLine } from './record-call.ts';
export { UNREADABLE } from './reject-message.ts';
export { Session } from './session.ts';
export type {
  ApprovalAnswer,
  ApprovalWanted,
  Approver,
  AskedFor,
  Command,
  DiscardReason,
  Emit,
  GrantQuery,
  HubAnswer,
  HubQuestion,
  HubReply,
  LargeEnd,
  Observation,
  Report,
  ServerExit,
  SessionConfig,
  Side,
  TakenGrant,
} from './types.ts';
export { BROKEN_LINE_END } from './types.ts';
export { BATCH_VERSION, eraOf, LEGACY_VERSIONS, MODERN_VERSION } from './versions.ts';

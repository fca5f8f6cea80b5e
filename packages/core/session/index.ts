export type { Decode } from '../json/text.ts';
export { itemTextsAt, memberText } from '../json/text-parts.ts';
export type { Message } from './context.ts';
export type {
  CallEnd,
  CallLimit,
  ContentNote,
  GateVerdict,
  Guard,
  GuardedCall,
  LimitVerdict,
  Passage,
  Passing,
  SurfaceNotice,
  Way,
} from './guard.ts';
export type { LargeHead } from './large-messages.ts';
export type { PeekOptions } from './peek/peek.ts';
export { peek } from './peek/peek.ts';
export type { ByteRange, InvalidReason, MessageId, Seen } from './peek/types.ts';
export { leanLine } from './record-call.ts';
export { UNREADABLE } from './reject-message.ts';
export { Session } from './session.ts';
export type {
  ApprovalAnswer,
  ApprovalWanted,
  Approver,
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
  ReportReason,
  ServerExit,
  SessionConfig,
  SessionLimits,
  SessionSummary,
  Side,
  TakenGrant,
} from './types.ts';
export { BROKEN_LINE_END, DEFAULT_LIMITS } from './types.ts';

export type {
  Account,
  AgentEnd,
  Ended,
  Refused,
  RunOptions,
  RunResult,
  RunSession,
  RunStatus,
  SessionTold,
  TracePlace,
} from './options.ts';

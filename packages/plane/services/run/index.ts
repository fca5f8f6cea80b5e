export type {
  Account,
  AgentEnd,
  AgentStartFailure,
  Ended,
  RunOptions,
  RunResult,
  RunSession,
  RunStatus,
  SessionTold,
  TracePlace,
} from './options.ts';

export type {
  Account,
  AgentEnd,
  AgentStartFailure,
  EndedRun,
  RunOptions,
  RunResult,
  RunSession,
  RunStatus,
  SessionTold,
  TracePlace,
} from './options.ts';

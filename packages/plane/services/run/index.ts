export type {
  AgentEnd,
  AgentStartFailure,
  EndedRun,
  RunOptions,
  RunResult,
  TracePlace,
} from './options.ts';

export type {
  Account,
  AgentEnd,
  Ended,
  Refused,
  RunOptions,
  RunResult,
  RunStatus,
  TracePlace,
} from './options.ts';
export { startRun } from './start.ts';

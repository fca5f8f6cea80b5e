export { openRunCedar } from './cedar.ts';
export type {
  AgentEnd,
  AgentLaunch,
  AgentStartFailure,
  EndedRun,
  ModelsTold,
  RunModels,
  RunOptions,
  RunResult,
  TracePlace,
} from './options.ts';

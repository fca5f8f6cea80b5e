export { openRunCedar } from './cedar.ts';
export type {
  AgentEnd,
  AgentStartFailure,
  EndedRun,
  ModelsReady,
  ModelsTold,
  RunModels,
  RunOptions,
  RunResult,
  TracePlace,
} from './options.ts';

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

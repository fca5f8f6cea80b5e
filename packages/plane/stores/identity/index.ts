export {
  AGENT_FILE_BYTES_MAX,
  agentFileName,
  dropStaleFiles,
  filePrefix,
  readAgentFile,
} from './agent-files.ts';
export type { AgentProcess } from './agent-process.ts';
export { agentProcess } from './agent-process.ts';
export { connectionFailure, processFailure } from './connection.ts';
export type { Identified } from './identify.ts';
export { identify } from './identify.ts';
export { hasTerminal, personFailure, terminalProblem } from './person.ts';
export type { RunProcess } from './run-register.ts';
export {
  dropRunFiles,
  dropShimFiles,
  livingProcesses,
  registerRun,
  runsOnFile,
} from './run-register.ts';
export { NO_ACCOUNT, type ShimAccount } from './shim-account.ts';

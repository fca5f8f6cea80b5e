export {
  AGENT_FILE_BYTES_MAX,
  agentFileName,
  dropStaleFiles,
  readAgentFile,
} from './agent-files.ts';
export type { Identified, IdentifyOptions } from './identify.ts';
export { identify } from './identify.ts';
export type { PersonOptions, PersonProblem } from './person.ts';
export { personProblem, terminalProblem } from './person.ts';

export {
  type ErrorAnswer,
  errorAnswer,
  type OwnAnnotations,
  type OwnAnswer,
  type OwnServer,
  type OwnTool,
  ownTool,
  type ToolUseContext,
} from './own-tool.ts';
export type {
  AgentCall,
  AgentOutcome,
  AgentRun,
  AgentTool,
  AgentTurns,
  CallAbout,
  Judgement,
  PastAnswer,
} from './types.ts';

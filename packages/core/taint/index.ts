export { checkCall } from './check.ts';
export type { TaintPolicy, ToolName } from './compile-policy.ts';
export { compileTaint, DEFAULT_SINKS } from './compile-policy.ts';
export { newTaint } from './memory.ts';
export type { Observation } from './observe.ts';
export { observe } from './observe.ts';
export type { RuleOfTwoVerdict } from './rule-of-two.ts';
export { recordCall, ruleOfTwo } from './rule-of-two.ts';
export { RULE_OF_TWO_HINT, ruleOfTwoSummary, TAINT_HINT, taintSummary } from './summaries.ts';
export type {
  RunFlag,
  SinkKind,
  TaintCall,
  TaintFinding,
  TaintSource,
  TaintState,
  TaintVerdict,
  Trust,
} from './types.ts';

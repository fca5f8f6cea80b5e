export { checkCall } from './check.ts';
export { newTaint } from './memory.ts';
export type { Observation } from './observe.ts';
export { observe } from './observe.ts';
export type { TaintPolicy, ToolName } from './policy/compile.ts';
export { compileTaint } from './policy/compile.ts';
export { DEFAULT_SINKS } from './policy/default-sinks.ts';
export type { SinkRule, TaintSection } from './policy/shape.ts';
export { TAINT_SECTION } from './policy/shape.ts';
export type { RuleOfTwoVerdict } from './rule-of-two.ts';
export { recordCall, ruleOfTwo } from './rule-of-two.ts';
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
export { RULE_OF_TWO_HINT, ruleOfTwoSummary, TAINT_HINT, taintSummary } from './words.ts';

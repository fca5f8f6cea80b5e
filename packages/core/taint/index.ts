export type { TaintPolicy } from './compile-policy.ts';
export { compileTaint } from './compile-policy.ts';
export type { TaintJudgement } from './judge-call.ts';
export { judgeTaint } from './judge-call.ts';
export { newTaint } from './memory.ts';
export { observe } from './observe.ts';
export { recordCall } from './rule-of-two.ts';
export { said } from './said.ts';
export type { TaintState } from './types.ts';

export type { WrapOptions, WrapPlan } from './plan.ts';
export { planWrap, wrapDiff } from './plan.ts';
export type { WrapResult } from './start.ts';
export { startWrap } from './start.ts';

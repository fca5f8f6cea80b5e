export type { WrapOptions, WrapPlan } from './plan-wrap.ts';
export { planWrap, wrapDiff } from './plan-wrap.ts';

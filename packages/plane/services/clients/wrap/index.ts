export type { WrapOptions, WrapPlan } from './plan.ts';
export { planWrap, wrapDiff } from './plan.ts';

export { cedarRequest } from './build-request.ts';
export { cedarRefusal } from './evaluate.ts';
export { type CedarPaths, loadCedar } from './load-policies.ts';
export type { Cedar, CedarExplanation, CedarPolicy } from './types.ts';
export { type CedarReload, watchCedar } from './watch-policies.ts';

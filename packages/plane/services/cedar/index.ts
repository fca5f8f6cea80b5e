export { cedarRequest } from './build-request.ts';
export { cedarRefusal } from './evaluate.ts';
export { loadCedar } from './load-policies.ts';
export type { CedarExplanation, CedarPolicy } from './types.ts';
export { type CedarReload, watchCedar } from './watch-policies.ts';

export { BASE_SCHEMA } from './base-schema.ts';
export type { CalledAt } from './call.ts';
export { cedarRequest } from './call.ts';
export type { CedarPlace } from './load.ts';
export { loadCedar } from './load.ts';
export type { CedarTexts } from './open.ts';
export { openCedar } from './open.ts';
export { cedarRefusal } from './refusal.ts';
export type {
  Cedar,
  CedarAnswer,
  CedarCause,
  CedarError,
  CedarExplanation,
  CedarOpened,
  CedarPolicy,
  CedarRequest,
  PrincipalKind,
} from './types.ts';
export type { CedarReload, CedarWatched, WatchedCedar, WatchOptions } from './watch.ts';
export { watchCedar } from './watch.ts';

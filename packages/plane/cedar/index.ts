export { BASE_SCHEMA } from './base-schema.ts';
export { loadCedarFiles, loadCedarFolder } from './load.ts';
export type { CedarTexts } from './open.ts';
export { openCedar } from './open.ts';
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

export type { LookedAt, LookFailure, LookOptions } from './look.ts';
export { lookAtServer } from './look.ts';
export type { Seen } from './seen.ts';
export { listingOf } from './seen.ts';

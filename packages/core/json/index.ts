export type { Canonical } from './canonicalize.ts';
export { canonicalize } from './canonicalize.ts';
export { foldKey } from './fold.ts';
export type { HashedArgs, NotObject } from './hash.ts';
export { argsHash, EMPTY_ARGS } from './hash.ts';
export type { CanonCode, InvalidJson } from './reader.ts';
export { DEPTH_MAX } from './scan.ts';
export { isCanonicalObject } from './written.ts';

export type { HashedArgs, NotObject } from './args-hash.ts';
export { argsHash, EMPTY_ARGS } from './args-hash.ts';
export type { CanonCode, InvalidJson } from './canonical-scalars.ts';
export type { Canonical } from './canonicalize.ts';
export { canonicalize } from './canonicalize.ts';
export { foldKey } from './fold-key.ts';
export { rewritten } from './patch-text.ts';
export { itemTexts, memberText } from './text-parts.ts';
export { DEPTH_MAX } from './units.ts';

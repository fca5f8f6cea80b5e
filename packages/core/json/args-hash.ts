// args_hash, contract A §1.9.1.
import type { Sha256 } from '../ports.ts';
import type { InvalidJson } from './canonical-scalars.ts';
import { canonicalize } from './canonicalize.ts';

/** The arguments of a call without arguments, for its hash. */
export const EMPTY_ARGS = '{}';

export interface NotObject {
  readonly ok: false;
  readonly code: 'SUB_CANON_NOT_OBJECT';
  readonly offset: number;
  readonly message: string;
}

export interface HashedArgs {
  readonly ok: true;
  readonly hash: string;
  readonly canonical: string;
}

/** Hashes the raw JSON text of a call's arguments; absent arguments hash as `EMPTY_ARGS`. */
export function argsHash(
  text: string | undefined,
  sha256: Sha256,
): HashedArgs | InvalidJson | NotObject {
  const input = text ?? EMPTY_ARGS;
  const result = canonicalize(input, { foldsKeys: true });
  if (!result.ok) return result;
  const { canonical } = result;
  if (!canonical.startsWith('{')) {
    const offset = input.search(/[^ \t\n\r]/);
    const message = 'expected the arguments to be an object';
    return { ok: false, code: 'SUB_CANON_NOT_OBJECT', offset, message };
  }
  return { ok: true, hash: sha256(canonical), canonical };
}

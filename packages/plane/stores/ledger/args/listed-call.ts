import type { CallRow } from '../store/query.ts';
import { mainArgument, readArgs } from './read-args.ts';

/** A call with the argument that tells most. */
export type ListedCall = CallRow & { readonly argument: string | null };

/** Of a row that was asked for with its arguments; they are left out unless all of them are wanted. */
export function listedCall({ args_preview = null, ...row }: CallRow, allArgs = false): ListedCall {
  const args = args_preview === null ? undefined : readArgs(args_preview);
  const argument = args === undefined ? null : mainArgument(args);
  return { ...row, argument, ...(allArgs && { args_preview }) };
}

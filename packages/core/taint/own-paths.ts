// The paths that the agent itself has named: what lies below them is its own to read.
import type { TaintPolicy, ToolName } from './compile-policy.ts';
import { leavesOf } from './leaves.ts';
import { pathOf } from './tokens/path.ts';
import type { TaintState } from './types.ts';

const OWN_PATHS_MAX = 256;
const OWN_LIMITS = { charsMax: 65_536, nodesMax: 2_000 };

/** The state with the paths in the arguments of a call that passed. */
export function withOwnPaths(
  state: TaintState,
  call: ToolName,
  { args, policy }: { readonly args: unknown; readonly policy: TaintPolicy },
): TaintState {
  if (state.ownPaths.size >= OWN_PATHS_MAX) return state;
  const named = leavesOf(args ?? {}, OWN_LIMITS).leaves.filter(
    ({ path, isKey }) => !isKey && policy.sinksAt(call, path).has('path'),
  );
  const paths = named.flatMap(({ text }) => ownPathOf(text.trim()) ?? []);
  const isKnown = paths.every((path) => state.ownPaths.has(path));
  return isKnown ? state : { ...state, ownPaths: new Set([...state.ownPaths, ...paths]) };
}

/** The root of the disk is nobody's own. */
function ownPathOf(text: string): string | undefined {
  return pathOf(text) ?? (/^(?:\.[/\\]?)?$/.test(text) ? '.' : undefined);
}

/** Below a folder that the agent has named itself, and not hidden there. */
export function isOwnPath({ ownPaths }: TaintState, path: string): boolean {
  return [...ownPaths].some((own) => {
    const isBelow = own === '.' ? !/^(?:\/|~|\.\.)/.test(path) : path.startsWith(`${own}/`);
    return isBelow && !/(?:^|\/)\./.test(own === '.' ? path : path.slice(own.length));
  });
}

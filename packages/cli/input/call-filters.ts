// Filters that `sub query` and `sub tail` share.
import { definedFields } from '@subluminal/contracts';
import { argFilter, type CallFilter, namePattern, pathFilter } from '@subluminal/plane/ledger';
import { badUsage, orThrow, textOption, textsOption } from './command.ts';

export const CALL_FILTER_OPTIONS = {
  server: textOption('name', 'Only calls to this server, or to those that a glob matches'),
  tool: textOption('name', 'Only calls of this tool, or of those that a glob matches'),
  principal: textOption('name', 'Only runs that this user or service started; may be a glob'),
  path: textOption('path', 'Only calls whose arguments name this file, or one below this folder'),
  arg: textsOption('name=glob', 'Only calls with this argument; may be given several times'),
};

const ARGS_MAX = 10;

interface FilterOptions {
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly principal: string | undefined;
  readonly path: string | undefined;
  readonly arg: readonly string[];
}

type SharedFilter = Pick<CallFilter, 'serverName' | 'toolName' | 'principal' | 'path' | 'args'>;

/** Throws its failure. */
export function readCallFilters(options: FilterOptions): SharedFilter {
  const { server, tool, principal, path, arg } = options;
  if (arg.length > ARGS_MAX)
    orThrow(badUsage(`--arg is given ${arg.length} times.`, 'Give fewer.'));
  return definedFields({
    serverName: namePattern(server),
    toolName: namePattern(tool),
    principal: namePattern(principal),
    path: path === undefined ? undefined : pathFilter(path, process.cwd()),
    args: arg.length === 0 ? undefined : arg.map(argFilter),
  });
}

export { fileAt } from './create-client.ts';
export type { EffectiveServer } from './effective-servers.ts';
export { effectiveServers } from './effective-servers.ts';
export { loginIn, type OwnLogin } from './own-login.ts';
export { isForProject } from './project-folders.ts';
export { linkOutOfProject, projectOfFile } from './project-links.ts';
export {
  CLIENTS,
  clientIds,
  clientOf,
  clientStartedBy,
  findClient,
  otherEventNames,
} from './registry.ts';
export type { FlagContext, RunFlag } from './shim-command.ts';
export {
  flagIn,
  governCommand,
  looseFlags,
  REMOTE_FLAGS,
  readShimCommand,
  SHIM_FLAGS,
} from './shim-command.ts';
export { unifiedDiff } from './text/diff.ts';
export type {
  Client,
  ClientId,
  ClientPlace,
  CommandLine,
  ConfigFailure,
  ConfigFile,
  ConfigScope,
  CutText,
  Edit,
  EntryChange,
  EntryValues,
  Format,
  GovernedCommand,
  HookChange,
  MovedSecret,
  ReadConfig,
  RemoteHeader,
  RemoteKeys,
  RemoteServer,
  RewrittenConfig,
  ServerEntry,
  ShimCall,
  SwitchedOffServer,
  ValuePath,
  ValueText,
  Variable,
} from './types.ts';
export { escapePattern, expandText, mayExpandTo, unresolved, withBraces } from './variables.ts';

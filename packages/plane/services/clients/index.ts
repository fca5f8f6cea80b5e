export { fileAt } from './create-client.ts';
export type { EffectiveServer } from './effective-servers.ts';
export { effectiveServers } from './effective-servers.ts';
export { isForProject, leadsOut } from './project-folders.ts';
export type { FoundClient } from './registry.ts';
export { CLIENTS, clientOf, clientStartedBy, findClient } from './registry.ts';
export type { FlagContext, RunFlag } from './shim-command.ts';
export { governCommand, governedOf, looseFlags, SHIM_FLAGS } from './shim-command.ts';
export type {
  Client,
  ClientId,
  CommandLine,
  ConfigFailure,
  ConfigFile,
  Cut,
  Edit,
  EntryChange,
  EntryValues,
  Format,
  Governed,
  MovedSecret,
  Place,
  ReadConfig,
  Rewritten,
  Scope,
  ServerEntry,
  ShimCall,
  SwitchedOff,
  ValuePath,
  ValueText,
  Variable,
} from './types.ts';
export type { Expanded } from './variables.ts';
export { expanded, mayExpandTo, unresolved } from './variables.ts';

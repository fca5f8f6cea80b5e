export type { FoundClient } from './all.ts';
export { CLIENTS, clientOf, clientStartedBy, findClient } from './all.ts';
export { fileAt } from './client.ts';
export type { EffectiveServer } from './effective.ts';
export { effectiveServers } from './effective.ts';
export { governCommand, governedOf } from './govern.ts';
export { leadsOut } from './links.ts';
export type { FlagContext, RunFlag } from './loose-flags.ts';
export { looseFlags, SHIM_FLAGS } from './loose-flags.ts';
export { isForProject } from './project.ts';
export type {
  Client,
  ClientId,
  ConfigFile,
  ConfigProblem,
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
export { CLIENT_IDS } from './types.ts';
export type { Expanded } from './variables.ts';
export { expanded, mayExpandTo, unresolved } from './variables.ts';

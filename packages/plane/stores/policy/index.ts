export { projectPaths } from './project-paths.ts';
export type { PolicyRole, PolicySource, PolicySources } from './sources.ts';
export { policySources, sourceWarnings, unsafePolicy } from './sources.ts';
export type { TrustEntry } from './trust-store.ts';
export { isTrusted, openTrust, revokeTrust, trustPolicy } from './trust-store.ts';

export { ensurePrivateFolder } from '../../os/index.ts';
export type { ApprovalSettings } from './approval-settings.ts';
export type { ConfigFailure } from './config-failure.ts';
export { formatConfigFailure } from './config-failure.ts';
export type { FoundPolicies, IgnoredPolicy } from './find-policy.ts';
export {
  findPolicies,
  PROJECT_POLICY_NAMES,
  projectFolders,
  projectOfPolicy,
} from './find-policy.ts';
export type { Env, HomePaths } from './home-paths.ts';
export { homePaths, userHome } from './home-paths.ts';
export type { LoadOptions, LoadResult, Origin } from './load.ts';

export { loadConfig, mayAnswerElsewhere } from './load.ts';
export type { SecretRef } from './secret-ref.ts';

export { readSecretRef, secretSettings } from './secret-ref.ts';
export type { OAuthSettings } from './server-oauth.ts';
export { isClientId, isRedirectUri, isScope } from './server-oauth.ts';
export type { SecretBinding, Servers } from './servers.ts';
export type { Config } from './settings.ts';
export { SETTING_KEYS, SETTINGS } from './settings.ts';

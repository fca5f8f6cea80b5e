export type {
  Authentication,
  AuthenticatorOptions,
  RateLimits,
} from './authenticator.ts';
export { Authenticator, hasKeyHeader, requestKey, UNASSIGNED_TEAM } from './authenticator.ts';
export type { AddressRules } from './client-address.ts';
export {
  addressRules,
  clientAddress,
  isAllowedAddress,
} from './client-address.ts';
export type { NewKey } from './onboarding.ts';
export { Onboarding } from './onboarding.ts';
export type { PageKey, PageKeysOptions } from './page-keys.ts';
export { hasPageToken, PageKeys } from './page-keys.ts';
export { repoAddress } from './repo-address.ts';
export type { BindingOptions, RepoBinding } from './repo-binding.ts';
export { RepoBindings } from './repo-binding.ts';
export { prepareSetup, removeSetupFile } from './setup-token.ts';
export type { Rate } from './token-bucket.ts';
export { TokenBuckets } from './token-bucket.ts';

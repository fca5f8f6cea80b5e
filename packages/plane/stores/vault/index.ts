export { filesNamed, fitsCommand, hiddenWord } from './bound-command.ts';
export type { ExternalSourceOptions } from './external-sources.ts';
export type { SecretSources } from './fetch-secret.ts';
export { openSecretSources } from './fetch-secret.ts';
export { loadRedactor } from './load-redactor.ts';
export type { Injection, ResolvedSecrets, SecretFailure } from './resolve-bindings.ts';
export { formatSecretFailure, isTooShortToRedact, resolveBindings } from './resolve-bindings.ts';
export type { Protection } from './vault-format.ts';
export { isSecretName, VALUE_BYTES_MAX } from './vault-format.ts';
export type { Purpose } from './vault-key.ts';
export type { Vault, VaultOptions } from './vault-store.ts';
export {
  addSecret,
  addSecrets,
  forgetVaultKey,
  listSecrets,
  openVault,
  putSecret,
  removeSecret,
  rotateKey,
  rotateSecret,
  secretNames,
  vaultState,
} from './vault-store.ts';

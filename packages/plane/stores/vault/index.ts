export { fitsCommand, hiddenWord } from './bound-command.ts';
export { filesNamed } from './bound-start.ts';
export type { Keychain } from './keychain.ts';
export type { SecretProblem } from './problem.ts';
export { formatSecretProblem } from './problem.ts';
export type {
  BoundServer,
  Injection,
  ResolvedSecrets,
  ResolveOptions,
  SecretBinding,
  SecretValue,
} from './resolve.ts';
export { isTooShortToRedact, resolveBindings } from './resolve.ts';
export type { FarSettings } from './sources/far.ts';
export type { VaultCode, VaultFault } from './store/fault.ts';
export { isVaultFault } from './store/fault.ts';
export type { Protection } from './store/format.ts';
export { isSecretName, PROTECTIONS, VALUE_BYTES_MAX } from './store/format.ts';
export type { Purpose } from './store/keys.ts';
export type { Changed, SecretInfo, Vault, VaultOptions } from './store/store.ts';
export {
  addSecret,
  addSecrets,
  openVault,
  removeSecret,
  rotateKey,
  rotateSecret,
} from './store/store.ts';

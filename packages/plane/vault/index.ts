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
export { resolveBindings } from './resolve.ts';

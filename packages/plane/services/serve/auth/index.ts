export type { AuthConfig, AuthSurroundings } from './auth-config.ts';
export { isKeyName, keysFilePath, readAuthConfig } from './auth-config.ts';
export { createAuthenticator } from './authenticator.ts';
export { METADATA_HEADERS, METADATA_PREFLIGHT } from './challenge.ts';
export type { Authenticated, Authenticator, Principal } from './types.ts';

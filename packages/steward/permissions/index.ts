export { meansAction } from './actions.ts';
export { compilePermissions } from './compile-permissions.ts';
export { permissionsSnapshot, policyFault } from './permissions-snapshot.ts';
export { ratesOf } from './rates.ts';
export { readPermissions } from './read-permissions.ts';
export { tierOf } from './tier-of.ts';
export { TIER_WORDS } from './tier-words.ts';
export type { Permissions } from './types.ts';

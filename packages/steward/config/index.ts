export { isPlainUrl } from './check-integrations.ts';
export { FILE_BYTES_MAX, FILES, hasStewardConfig, MANIFESTS } from './config-folder.ts';
export { commitPaths, isUncommitted, repositoryProblem } from './git.ts';
export type { LiveStewardConfig } from './live-config.ts';
export { followStewardConfig } from './live-config.ts';
export type { ChangedFiles } from './read-config.ts';
export { readStewardConfig } from './read-config.ts';
export type { BrokenConfig, StewardConfig } from './types.ts';
export { writeStewardConfig } from './write-config.ts';

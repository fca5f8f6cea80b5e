export { finderOptions } from '../self-protection/finder-options.ts';
export { protectedFiles } from '../self-protection/protected-files.ts';
export { fingerprintsIn } from './fingerprints.ts';
export type { GatesLifecycle } from './gates-lifecycle.ts';
export { openGates } from './gates-lifecycle.ts';

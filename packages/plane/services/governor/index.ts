export { finderOptions } from '../self-protection/finder-options.ts';
export { fingerprintsIn } from './fingerprints.ts';
export type { GatesLifecycle } from './gates-lifecycle.ts';
export { openGates } from './gates-lifecycle.ts';

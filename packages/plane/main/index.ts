export { fingerprintsIn } from './shim/fingerprints.ts';
export type { ShimOptions } from './shim/start.ts';
export { startShim } from './shim/start.ts';

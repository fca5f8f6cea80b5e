export type { ShimOptions } from './shim/start.ts';
export { startShim } from './shim/start.ts';

export type { Identified, IdentifyOptions } from './identify.ts';
export { identify } from './identify.ts';
export type { System } from './system.ts';
export { thisSystem } from './system.ts';

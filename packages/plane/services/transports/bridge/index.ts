export { bridgeEras, type EraMemory } from './bridge-eras.ts';

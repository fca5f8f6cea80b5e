export { fingerprintsIn } from './fingerprints.ts';

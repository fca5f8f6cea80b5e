export { loadManifest, manifestFileName, watchManifest } from './manifest-file.ts';
export type { PinsFile } from './pins-file.ts';
export {
  openPins,
  openUntrustedPins,
  PINS_FILE,
  rememberPins,
  resetPins,
  savePins,
  signPins,
} from './pins-file.ts';

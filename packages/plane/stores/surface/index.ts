export { manifestFileName } from './file-name.ts';
export type { LoadedManifest, ManifestPlace } from './manifest-file.ts';
export { loadManifest } from './manifest-file.ts';
export type {
  PinsCode,
  PinsFile,
  PinsProblem,
  ResetPins,
  SavedPins,
  UnreadablePins,
} from './pins-file.ts';
export {
  openPins,
  openUntrustedPins,
  PINS_FILE,
  rememberPins,
  resetPins,
  savePins,
  signPins,
} from './pins-file.ts';
export type { ManifestWatch } from './watch-manifest.ts';
export { watchManifest } from './watch-manifest.ts';

export type { Collision, Collisions, Named, Offered } from './collisions.ts';
export { findCollisions } from './collisions.ts';
export type { Access, Enforced, Moment, Refusal, SurfaceCall, SurfaceDecision } from './enforce.ts';
export {
  enforceCall,
  enforceMethod,
  enforcePrompt,
  enforceResource,
  isLimited,
  limitsOf,
} from './enforce.ts';
export type { Filtered, ListOptions, Removed, RemovedReason, ToolNote } from './list.ts';
export { filterPrompts, filterResources, filterResourceTemplates, filterTools } from './list.ts';
export type { ManifestOptions, ManifestResult } from './manifest/compile.ts';
export { compileManifest } from './manifest/compile.ts';
export { answerLimit, toolRule } from './manifest/lookup.ts';
export type { SurfaceReason } from './manifest/reasons.ts';
export { SURFACE_REASONS } from './manifest/reasons.ts';
export type { ManifestDocument, Tier } from './manifest/shape.ts';
export type { ToolRow } from './manifest/tool-rows.ts';
export { toolRows } from './manifest/tool-rows.ts';
export type { BreakerSettings, Confirmation, Manifest } from './manifest/types.ts';
export { isReading } from './names/tool-verbs.ts';
export type {
  Comparison,
  FieldChange,
  Listing,
  RenameCandidate,
  ToolChange,
} from './pins/compare.ts';
export { comparePins } from './pins/compare.ts';
export type { Pin, Pinned, PinStore, ServerPins } from './pins/pin.ts';
export { EMPTY_PINS, pinOf } from './pins/pin.ts';
export type {
  Accepting,
  NewPins,
  PinDecision,
  PinReview,
  ReviewContext,
} from './pins/review-pins.ts';
export { acceptPins, addPins, decideByPins, reviewListing } from './pins/review-pins.ts';
export type { OpenedPins } from './pins/store.ts';
export { parsePins, writePins } from './pins/store.ts';
export type { Introspected } from './propose/propose.ts';
export { proposeManifest } from './propose/propose.ts';
export type { SchemaNote, SchemaNoteKind } from './schema/rewrite.ts';
export type { Keyed, SurfaceState, Waiting } from './state.ts';
export { carrySurfaceState, counted, initialSurfaceState, waitOf } from './state.ts';

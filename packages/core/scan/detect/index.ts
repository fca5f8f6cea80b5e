export type { Action, Actions, Direction, MarkFinding, Treated, Treatment } from './actions.ts';
export { actionFor, applyActions, redactFindings } from './actions.ts';
export type { DefinitionOptions } from './definition.ts';
export { scanInstructions, scanListed, scanToolDefinition } from './definition.ts';
export type { ExternalOptions, ExternalSource, TaggedResult } from './external.ts';
export { cutContent, externalContent, markedContent, neutral, tagResult } from './external.ts';
export { carriesAction, mentionOf } from './mention.ts';
export { scanJson } from './scan-json.ts';
export { scanText } from './scan-text.ts';
export type { Suppressed, SuppressedPlace, Suppression, SuppressionRead } from './suppress.ts';
export { readSuppression, suppress } from './suppress.ts';
export type {
  Confidence,
  ContentFinding,
  FindingClass,
  ScanLimits,
  ScanOptions,
  ScanVerdict,
  Strictness,
  Unscanned,
  UnscannedReason,
} from './types.ts';
export { DEFAULT_LIMITS } from './types.ts';

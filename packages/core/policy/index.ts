export { compileGlob } from './compile/glob.ts';
export { normalizeBundle } from './compile/normalize.ts';
export type { SnapshotError } from './compile/seal.ts';
export { openSnapshot, sealSnapshot } from './compile/seal.ts';
export type { CompileOptions, Snapshot } from './compile/snapshot.ts';
export {
  compileBundle,
  compileDocument,
  documentOf,
  policiesIn,
  withProfile,
} from './compile/snapshot.ts';
export { compileTightened, withoutTrustedFields } from './compile/tighten.ts';
export { decide, recordResult } from './decide/decide.ts';
export type { SectionsInForce } from './decide/sections-for.ts';
export { sectionsFor, strictestMode } from './decide/sections-for.ts';
export { selects } from './decide/select.ts';
export type { PolicyState } from './decide/state.ts';
export { carryState, initialState } from './decide/state.ts';
export type { Effect, PolicyChange, PolicyDiff } from './diff/change.ts';
export { diffBundles } from './diff/diff.ts';
export { formatDiff } from './diff/format.ts';
export type { ExplainedRule, Explanation } from './explain/explain.ts';
export { explain } from './explain/explain.ts';
export { formatExplanation } from './explain/format.ts';
export { sectionLines, sectionsOf } from './explain/sections.ts';
export { lintBundle } from './lint/lint.ts';
export type { Position, Problem } from './problem.ts';
export { formatProblem, nearest } from './problem.ts';
export type { ParsedBundle, ParseResult } from './read/parse.ts';
export { parseBundle } from './read/parse.ts';
export { loadPatternChecks, parseWithEngines } from './read/pattern-checks.ts';
export type { PatternChecks } from './read/patterns.ts';
export { formatReplay } from './replay/format.ts';
export { replay } from './replay/replay.ts';
export type { ReplayedCall, ReplayOptions, ReplayResult } from './replay/types.ts';
export type { Call, CallResult, Identity, Outcome, TraceStep } from './types.ts';
export { visible } from './visible.ts';

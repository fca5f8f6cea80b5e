export { compileGlob, globAlternatives } from '../patterns/glob.ts';
export type { Position, Problem } from '../source/problem.ts';
export { formatProblem } from '../source/problem.ts';
export type { SourceTree } from '../source/read-source.ts';
export { readSource } from '../source/read-source.ts';
export { follow as treeAt, valueOf as treeValue } from '../source/tree.ts';
export { nearest } from '../text/nearest.ts';
export { visible } from '../text/visible.ts';
export type { Effect, PolicyChange, PolicyDiff } from './changes/change.ts';
export { normalizeBundle } from './compile/normalize.ts';
export { openSnapshot, sealSnapshot } from './compile/seal.ts';
export type { CompileOptions, Snapshot } from './compile/snapshot.ts';
export {
  candidatesFor,
  compileBundle,
  compileDocument,
  compileTightened,
  policiesIn,
  snapshotJson,
  withoutTrustedFields,
  withProfile,
} from './compile/snapshot.ts';
export { decide, recordResult, settleCost } from './decide/decide.ts';
export type { SectionsInForce } from './decide/sections-for.ts';
export { sectionsFor, strictestMode } from './decide/sections-for.ts';
export type { PolicyState } from './decide/verdict.ts';
export { carryState, initialState } from './decide/verdict.ts';
export { diffBundles } from './diff/diff.ts';
export { formatDiff } from './diff/format-diff.ts';
export type { ExplainedRule, Explanation } from './explain/explain.ts';
export { explain, sectionsOf } from './explain/explain.ts';
export { countedWhere } from './leases/counted-where.ts';
export {
  callsLeft,
  countersOf,
  leasableRule,
  withCallsTaken,
  withCounterClosed,
} from './leases/leased-calls.ts';
export { lintBundle } from './lint/lint.ts';
export { selects } from './match/match.ts';
export type { Call, CallResult, Identity, Outcome, TraceStep } from './model/call.ts';
export { identityOf } from './model/identity.ts';
export { POLICY_FILE_BYTES_MAX } from './model/limits.ts';
export { subjectOf } from './model/subjects.ts';
export type { PatternChecks } from './read/check-patterns.ts';
export type { ParsedBundle, ParseResult } from './read/parse.ts';
export { loadPatternChecks, parseBundle, parseWithEngines } from './read/parse.ts';
export { formatReplay } from './replay/format-replay.ts';
export { replay, startReplay, verdictOf } from './replay/replay.ts';
export type { ReplayedCall, ReplayQuestion, ReplayResult } from './replay/types.ts';
export { awaitsResult, countsAcrossServers, ruleKind, ruleRole } from './rules/index.ts';

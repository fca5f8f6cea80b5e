export { startInBackground } from './background-process.ts';
export { BoundedCache } from './bounded-cache.ts';
export type { GateLimits } from './connection-gate.ts';
export { ConnectionGate } from './connection-gate.ts';
export type { LockRequest } from './file-lock.ts';
export { changeFiles, takeLock, takeLockBlocking } from './file-lock.ts';
export { fileProblem, writerProblem } from './file-owner.ts';
export { GatheredBytes } from './gathered-bytes.ts';
export type { LoopbackGuardOptions } from './http-listener.ts';
export {
  bearerToken,
  closeHttpServer,
  isFromPage,
  isStrongToken,
  listenOnAddress,
  listenOnLoopback,
  loopbackGuard,
  refuseUpgrades,
} from './http-listener.ts';
export { LineReader } from './line-reader.ts';
export { isLoopbackHost } from './loopback-host.ts';
export { monotonicClock } from './monotonic-clock.ts';
export { createOutput, openForAppending, refuseLink, replaceOutput } from './output-file.ts';
export type { Located } from './path-identity.ts';
export { IS_CASELESS_DISK, PathLookup } from './path-identity.ts';
export type { PinnedFolder } from './pinned-folder.ts';
export { pinFolder } from './pinned-folder.ts';
export {
  createPrivateFile,
  draftTarget,
  ensurePrivateFolder,
  makeFolders,
  ownerProblem,
  privateFolderFailure,
  readPrivateFile,
  removeDrafts,
  syncFolder,
  writePrivateFile,
} from './private-file.ts';
export type {
  ProcessEnvironment,
  ProcessIdentity,
  ProcessInfo,
  ProcessStat,
} from './process-identity.ts';
export {
  ANCESTORS_MAX,
  bootOf,
  isElsewhere,
  isProcessAlive,
  isSubName,
  ownIdentity,
  processEnded,
  processEnvironment,
  processInfo,
  processStat,
  subCommand,
  withAncestors,
} from './process-identity.ts';
export type { ProgramPlace } from './program.ts';
export { findProgram, isExecutable, programCandidates, realFile } from './program.ts';
export type { FileRead } from './read-file.ts';
export { readRegularFile } from './read-file.ts';
export { secretMatcher } from './secret-matcher.ts';
export { closedToOthers } from './shared-file.ts';
export {
  isAnything,
  isPattern,
  nameMatcher,
  namesIn,
  PatternMatches,
} from './shell-patterns.ts';
export type { ConnectionEnds } from './socket-owner.ts';
export { holdsSocket, isLetGo, isOtherUsers, peerSocket, socketHolders } from './socket-owner.ts';
export type { System } from './system.ts';
export { thisSystem } from './system.ts';
export {
  attempt,
  codeOrText,
  decodeUtf8,
  errorText,
  hasSystemCode,
  parseJson,
  realPath,
  systemCode,
} from './system-error.ts';
export { isAnswered, listenOnUnixSocket } from './unix-listener.ts';
export type { WatchedFiles } from './watch-files.ts';
export { watchFiles } from './watch-files.ts';

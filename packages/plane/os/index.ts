export type { GateLimits } from './connection-gate.ts';
export { ConnectionGate } from './connection-gate.ts';
export type { FileLock, LockedFiles, LockHeld, LockRequest } from './file-lock.ts';
export { changeFiles, takeLock, takeLockBlocking } from './file-lock.ts';
export type { FileProblem } from './file-owner.ts';
export { fileProblem, writerProblem } from './file-owner.ts';
export type { LoopbackGuard, LoopbackGuardOptions, LoopbackListening } from './http-listener.ts';
export {
  bearerToken,
  isFromPage,
  isStrongToken,
  listenOnLoopback,
  loopbackGuard,
  singleHeader,
} from './http-listener.ts';
export { createOutput, openForAppending, refuseLink, replaceOutput } from './output-file.ts';
export type { OwnerRules, PrivateReadOptions } from './private-file.ts';
export {
  createPrivateFile,
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
  isElsewhere,
  isProcessAlive,
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
export type { FileRead, Unreadable } from './read-file.ts';
export { readRegularFile } from './read-file.ts';
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
export type { UnixListening, UnixListenOptions } from './unix-listener.ts';
export { isAnswered, listenOnUnixSocket } from './unix-listener.ts';
export type { FileWatch, WatchedFiles } from './watch-files.ts';
export { watchFiles } from './watch-files.ts';

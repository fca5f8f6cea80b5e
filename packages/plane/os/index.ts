export type { GateLimits } from './connection-gate.ts';
export { ConnectionGate } from './connection-gate.ts';
export type { FileProblem } from './file-owner.ts';
export { fileProblem, writerProblem } from './file-owner.ts';
export { createOutput, openForAppending, refuseLink, replaceOutput } from './output-file.ts';
export type { ProgramPlace } from './program.ts';
export { findProgram, isExecutable, realFile } from './program.ts';
export type { FileRead, Unreadable } from './read-file.ts';
export { readRegularFile } from './read-file.ts';

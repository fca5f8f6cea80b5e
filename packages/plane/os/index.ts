export type { FileProblem } from './file-owner.ts';
export { fileProblem } from './file-owner.ts';
export type { FileRead, Unreadable } from './read-file.ts';
export { readRegularFile } from './read-file.ts';

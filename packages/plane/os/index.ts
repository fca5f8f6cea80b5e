export type { FileRead, Unreadable } from './read-file.ts';
export { readRegularFile } from './read-file.ts';

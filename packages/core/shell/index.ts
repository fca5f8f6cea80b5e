export { character, withoutEscapes } from './escapes.ts';
export { readsFolders } from './folder-tools.ts';
export {
  type CommandOutline,
  type OpaquePart,
  type OpaqueReason,
  outlineCommand,
  type ProgramUse,
  type PutPath,
} from './outline.ts';
export { WRAPPER_NAMES } from './programs/wrappers.ts';
export { readShell } from './read-shell.ts';
export type { ShellReading, ShellWord } from './reading.ts';
export { UNKNOWN } from './word-texts.ts';

export { character, withoutEscapes } from './escapes.ts';
export { readShell } from './read-shell.ts';
export type { ShellReading, ShellWord } from './reading.ts';
export { UNKNOWN } from './word-texts.ts';

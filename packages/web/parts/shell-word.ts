// Commands are copied into terminals, and names in them may be hostile.
import { plainLine } from './plain-text.ts';

const PLAIN = /^[\w@%+=:,./][\w@%+=:,./-]*$/;

/** The text as one word of a shell. What cannot be seen, or would be a flag, is not given: the name of what it is stands instead. */
export function shellWord(text: string, placeholder: string): string {
  if (text === '' || text.startsWith('-') || plainLine(text) !== text) return placeholder;
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

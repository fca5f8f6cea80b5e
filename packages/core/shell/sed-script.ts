// The files that a script of sed reads and writes, and whether it runs commands.

interface SedFiles {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** It runs a command, or is not understood. */
  readonly runs: boolean;
}

const SCRIPT_LENGTH_MAX = 4_096;
/** `[^/]`: a slash in it ends no pattern. */
const BRACKETS = /\[\^?\]?[^\]\n]*\]/y;
/** Addresses and what stands between commands. */
const ADDRESS =
  /(?:[\s;{}!,$+~\d]|\/(?:\[\^?\]?[^\]\n]*\]|[^/[\\\n]|\\[\s\S])*\/[IM]{0,2}|\\([^\n\\])(?:(?!\1)[^\\\n]|\\[\s\S])*\1[IM]{0,2})*/y;
const TO_LINE_END = /[^\n]*/y;
const LABEL = /[^\n;}]*/y;
const FLAGS = /[gpiIMme\d]*/y;

/** Goes through the commands of a script. */
export function sedFiles(script: string): SedFiles {
  const reads: string[] = [];
  const writes: string[] = [];
  if (script.length > SCRIPT_LENGTH_MAX) return { reads, writes, runs: true };
  let runs = false;
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(script)?.[0] ?? '';
    at += text.length;
    return text;
  };
  /** Goes over one part of `s/…/…/`. */
  const skipPart = (end: string, isPattern: boolean): void => {
    while (at < script.length && script[at] !== end) {
      if (isPattern && script[at] === '[' && take(BRACKETS) !== '') continue;
      at += script[at] === '\\' ? 2 : 1;
    }
    at++;
  };
  while (at < script.length) {
    take(ADDRESS);
    const command = script[at++] ?? '';
    if (command === 's' || command === 'y') {
      const end = script[at++] ?? '';
      skipPart(end, command === 's');
      skipPart(end, false);
      const flags = command === 's' ? take(FLAGS) : '';
      if (flags.includes('e')) runs = true;
      if (command === 's' && /[wW]/.test(script[at] ?? '')) {
        at++;
        writes.push(take(TO_LINE_END).trim());
      }
    } else if (command === 'w' || command === 'W') writes.push(take(TO_LINE_END).trim());
    else if (command === 'r' || command === 'R') reads.push(take(TO_LINE_END).trim());
    else if (command === 'e') runs = true;
    else if (/[btTv:]/.test(command)) take(LABEL);
    else if (/[aic#]/.test(command)) take(TO_LINE_END);
    else if (!/^[=dDgGhHnNpPxqQlFz]?$/.test(command)) runs = true;
  }
  return { reads, writes, runs };
}

// The command that a secret is bound to: servers of other configs may have the same name.
import { createHash } from 'node:crypto';

/** Clients put something else in their place before they start the server. */
const VARIABLE = /\$\{[^}]*\}/;
const HIDDEN = 'sha256:';

/** A word that is not to be read in the settings. */
export function hiddenWord(word: string): string {
  return `${HIDDEN}${createHash('sha256').update(word).digest('hex')}`;
}

/** Word by word; `${…}` in a bound word stands for any text. */
export function fitsCommand(bound: readonly string[], words: readonly string[]): boolean {
  return bound.length === words.length && bound.every((one, at) => fits(one, words[at] ?? ''));
}

/** Whether a bound word is that very word, not one that a variable stands for. */
export function isSameWord(bound: string, word: string): boolean {
  return bound === word || bound === hiddenWord(word);
}

function fits(bound: string, word: string): boolean {
  if (isSameWord(bound, word)) return true;
  const [start = '', ...parts] = bound.split(VARIABLE);
  const end = parts.pop();
  if (end === undefined || !word.startsWith(start)) return false;
  let at = start.length;
  // Each part as early as it can stand: if any place for all of them fits, this one does.
  for (const part of parts) {
    const found = word.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return word.length - end.length >= at && word.endsWith(end);
}

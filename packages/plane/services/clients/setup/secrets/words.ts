// The command of a server as a binding names it. Arguments may hold secrets, and settings must not.
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { hiddenWord } from '../../../../stores/vault/index.ts';
import { hasDrawn, maskedWords } from '../masked-words.ts';

export type BindWords = (words: readonly string[]) => readonly string[];

const WORD_LENGTH_MAX = 512;
const REFERENCE = /\$\{[^}]*\}/g;
/** What stands for any text. */
const ANYTHING = ['$', '{any}'].join('');

/** Word by word; what may be a secret by its digest. Made once: the known forms are many. */
export function wordBinder(): BindWords {
  let redactor: Redactor | undefined;
  const isSecret = (word: string): boolean => {
    redactor ??= createRedactor({});
    return word.length > WORD_LENGTH_MAX || redactor.redact(word).found.length > 0;
  };
  return (words) => {
    const mask = maskedWords();
    return words.map((word) => {
      const isShown = mask(word) === word;
      const rest = word.replaceAll(REFERENCE, ' ');
      if (rest === word) return isShown && !isSecret(word) ? word : hiddenWord(word);
      // Its client puts another text there each time: no digest would fit.
      return isSecret(word) || hasDrawn(rest) ? ANYTHING : word;
    });
  };
}

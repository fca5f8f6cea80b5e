// The words of a command line as they may be shown: values whose name says that they are secret are
// left out. Too much is masked rather than too little: a diff needs the form, not the values.

const SECRET_NAME = /key|pass|pwd|token|secret|auth|cred|bearer|cookie|jwt|private|signature/i;
/** `-p` is a password as often as a port. */
const SECRET_LETTERS: ReadonlySet<string> = new Set(['-p', '-u', '-k', '-t']);
const SETS_VARIABLE = /^(?:-e|--env(?:ironment)?)$/;
const NEXT_OPTION = /^--(?:[a-z]|$)/i;
const JOINED_PASSWORD = /^(-p)(?!-)[^]+/;
const IN_ADDRESS = /(:\/\/)[^/\s@]+@/g;
const NAME_LENGTH_MAX = 128;
const MASK = '…';

/** Takes the words one after the other; a word may be the value of the one before. */
function maskedWords(): (word: string) => string {
  let before = '';
  return (word) => {
    const owner = before;
    before = word;
    if (announces(owner) && !NEXT_OPTION.test(word)) {
      before = '';
      return MASK;
    }
    if (SETS_VARIABLE.test(owner)) return word.replace(/^([^=]*=)[^]+/, `$1${MASK}`);
    return namedValue(word)
      .replace(/^(--env=[^=]*=)[^]+/, `$1${MASK}`)
      .replace(IN_ADDRESS, `$1${MASK}@`)
      .replace(JOINED_PASSWORD, `$1${MASK}`);
  };
}

/** A name and its value in one word: `--key=V`, `ACME_KEY=V`, `Authorization: V`, `?token=V`. */
function namedValue(word: string): string {
  for (const { index } of word.matchAll(/[=:]/g)) {
    const before = word.slice(Math.max(0, index - NAME_LENGTH_MAX), index).trimEnd();
    const name = before.slice(before.search(/[\w.-]*$/));
    if (SECRET_NAME.test(name) && index + 1 < word.length) return word.slice(0, index + 1) + MASK;
  }
  return word;
}

/** An option whose value is the next word. */
function announces(word: string): boolean {
  if (SECRET_LETTERS.has(word)) return true;
  return /^--?[a-z]/i.test(word) && !word.includes('=') && SECRET_NAME.test(word);
}

export { maskedWords };

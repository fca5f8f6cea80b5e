// The words of a command line as they may be shown: values whose name says that they are secret, and
// what looks drawn by lot, are left out. Too much is masked rather than too little: a diff needs the
// form, not the values.
import { isUuid } from '@subluminal/contracts';

const SECRET_NAME =
  /key|pass|pwd|token|secret|auth|cred|bearer|cookie|jwt|private|signature|session|webhook|(?:^|[^a-z])(?:pat|sas|sig|otp|pin|dsn|login|users?|hdr|headers?|conn|connection)(?![a-z])/i;
/** `-p` is a password as often as a port. */
const SECRET_LETTERS: ReadonlySet<string> = new Set(['-p', '-u', '-k', '-t', '-H']);
const SETS_VARIABLE = /^(?:-e|--env(?:ironment)?(?:-var)?)$/;
/** It switches something off, and has no value. */
const SWITCH = /^--no-/;
const JOINED_PASSWORD = /^(-p)(?!-)[^]+/;
const NAMED = /^(-{0,2}[A-Za-z_][\w.-]{0,127}=)([^]+)$/;
const HEADER = /^([A-Za-z][\w-]{0,127}:)\s[^]+$/;
/** A number, a switch, a word, a path, a package: nothing that has to be hidden in its place. */
const PLAIN_VALUE = /^[\w@.,/~+-]*$/;
const PATH = /^(?:[.~]{0,2}\/|[A-Za-z]:[\\/])/;
const ADDRESS = /^[a-z][a-z0-9+.-]{0,31}:\/\//i;
const IN_ADDRESS = /(:\/\/)[^/\s@]+@/g;
const BEFORE_HOST = /^[^\s/@:]+:[^\s/@]+@(?=[\w[])/;
const IN_QUERY = /([?&#;][^=&#?;]{0,128}=)([^&#;]+)/g;
const SHORT_WORD = /^(?:\d{1,6}|[a-z]{1,15})$/;
/** Letters alone: what is drawn by lot has digits in between. */
const VARIABLE = /^[A-Z]{1,32}(?:_[A-Z]{1,32}){0,8}$/;
const HEADER_VARIABLE = /^[A-Za-z-]{1,64}=[A-Z]{1,32}(?:_[A-Z]{1,32}){0,8}$/;
const DRAWN_LENGTH_MIN = 8;
const NAME_LENGTH_MAX = 128;
export const MASK = '…';

/** Takes the words one after the other; a word may be the value of the one before. */
export function maskedWords(): (word: string) => string {
  let before = '';
  let isOfServer = false;
  return (word) => {
    const owner = before;
    before = word;
    isOfServer ||= word === '--';
    // The id of a session of `sub wrap` opens nothing, and neither does the name of a variable.
    if (owner === '--wrap' && !isOfServer && isUuid(word)) return word;
    if (owner === '--header-env' && !isOfServer && HEADER_VARIABLE.test(word)) return word;
    if (owner === '--bearer-env' && !isOfServer && VARIABLE.test(word)) return word;
    // Whatever follows is its value, also one that begins like an option.
    if (announces(owner) && word !== '--') {
      if (!announces(word)) before = '';
      return HEADER.test(word) ? word.replace(HEADER, `$1${MASK}`) : MASK;
    }
    if (SETS_VARIABLE.test(owner)) return word.replace(/^([^=]*=)[^]+/, `$1${MASK}`);
    return maskedWord(word);
  };
}

function maskedWord(word: string): string {
  if (/^\s*(?:\{|\[(?!REDACTED:))/.test(word)) return MASK;
  const [variable] = /^(?:-e|--env=)[^=]*=(?=[^])/.exec(word) ?? [];
  if (variable !== undefined) return `${variable}${MASK}`;
  const named = namedValue(word)
    .replace(HEADER, `$1${MASK}`)
    .replace(IN_ADDRESS, `$1${MASK}@`)
    .replace(BEFORE_HOST, `${MASK}@`)
    .replace(JOINED_PASSWORD, `$1${MASK}`);
  const [, name = '', value = ''] = NAMED.exec(named) ?? [];
  if (name !== '' && value !== MASK && !ADDRESS.test(value) && !PLAIN_VALUE.test(value)) {
    return `${name}${MASK}`;
  }
  const queried = named.includes('://')
    ? named.replace(IN_QUERY, (all, key: string, text: string) =>
        SHORT_WORD.test(text) || text === MASK ? all : `${key}${MASK}`,
      )
    : named;
  return PATH.test(word) ? queried : withoutDrawn(queried);
}

/** A name and its value in one word: `--key=V`, `ACME_KEY=V`, `Authorization: V`, `?token=V`. */
function namedValue(word: string): string {
  for (const { index } of word.matchAll(/[=:]/g)) {
    if (word.startsWith('://', index)) continue;
    const before = word.slice(Math.max(0, index - NAME_LENGTH_MAX), index).trimEnd();
    const name = before.slice(before.search(/[\w.-]*$/));
    if (SECRET_NAME.test(name) && index + 1 < word.length) return word.slice(0, index + 1) + MASK;
  }
  return word;
}

/** An option whose value is the next word. */
function announces(word: string): boolean {
  if (SECRET_LETTERS.has(word)) return true;
  if (SWITCH.test(word) || word.includes('=')) return false;
  return /^--?[a-z]/i.test(word) && SECRET_NAME.test(word);
}

/** Letters with digits in between, as nobody writes a word; versions and sizes end with theirs. */
function withoutDrawn(text: string): string {
  return text.replaceAll(/[A-Za-z0-9]+/g, (run) => (isDrawn(run) ? MASK : run));
}

function isDrawn(run: string): boolean {
  return run.length >= DRAWN_LENGTH_MIN && /[A-Za-z]\d+[A-Za-z]/.test(run);
}

/** Whether a part of the text looks drawn by lot. */
export function hasDrawn(text: string): boolean {
  return withoutDrawn(text) !== text;
}

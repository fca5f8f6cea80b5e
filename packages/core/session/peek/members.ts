// The members of an object that we decide on: known keys by number, no key twice.
import { CLOSE_BRACE, COLON, COMMA, QUOTE } from '../../canon/units.ts';
import { readString, type Scan } from './scan.ts';
import { asciiBytes, decodeText, stringText } from './text.ts';

/** An object of a known place in the message, and what to do at the value of each key. */
interface Scope<D> {
  readonly words: readonly Uint8Array[];
  readonly texts: readonly string[];
  /** Reads the value; `key` is the place of its key among `words`, or -1. */
  readonly visit: (scan: Scan, draft: D, key: number) => boolean;
  /** Told when a key comes again. */
  readonly repeated?: (draft: D, key: number) => void;
}

/** More keys than this at a level that we decide on are no message of anybody. */
const KEYS_MAX = 4_096;

function scopeOf<D>(
  texts: readonly string[],
  visit: Scope<D>['visit'],
  repeated?: Scope<D>['repeated'],
): Scope<D> {
  const words = texts.map(asciiBytes);
  return { words, texts, visit, ...(repeated !== undefined && { repeated }) };
}

/** Reads an object from its opening brace to behind the closing one. */
function readMembers<D>(scan: Scan, scope: Scope<D>, draft: D): boolean {
  let known = 0;
  let others: Set<string> | undefined;
  scan.at++;
  if (scan.next() === CLOSE_BRACE) return passed(scan);
  for (;;) {
    if (scan.next() !== QUOTE) return scan.fail('json', scan.at);
    const start = scan.at;
    if (!readString(scan)) return false;
    const end = scan.at;
    const key = scan.escaped
      ? scope.texts.indexOf(stringText(decodeText(scan.bytes, start, end)))
      : placeOf(scope.words, scan.bytes, { start: start + 1, end: end - 1 });
    if (key === -1) {
      others ??= new Set();
      if (!remember(scan, others, start)) return false;
    } else {
      if ((known & (1 << key)) !== 0) {
        scan.complain('duplicate_key');
        scope.repeated?.(draft, key);
      }
      known |= 1 << key;
    }
    if (scan.next() !== COLON) return scan.fail('json', scan.at);
    scan.at++;
    scan.next();
    if (!scope.visit(scan, draft, key)) return false;
    const byte = scan.next();
    if (byte === CLOSE_BRACE) return passed(scan);
    if (byte !== COMMA) return scan.fail('json', scan.at);
    scan.at++;
  }
}

function remember(scan: Scan, others: Set<string>, start: number): boolean {
  if (others.size >= KEYS_MAX) return scan.fail('too_many_keys', start);
  const text = stringText(decodeText(scan.bytes, start, scan.at));
  if (others.has(text)) scan.complain('duplicate_key');
  others.add(text);
  return true;
}

function passed(scan: Scan): true {
  scan.at++;
  return true;
}

/** Which of the words stands there, or -1. */
function placeOf(
  words: readonly Uint8Array[],
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  const length = end - start;
  for (let place = 0; place < words.length; place++) {
    const word = words[place];
    if (word?.length === length && isWord(word, bytes, start)) return place;
  }
  return -1;
}

function isWord(word: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[start + index] !== word[index]) return false;
  }
  return true;
}

export type { Scope };
export { isWord, readMembers, scopeOf };

// A text → the values in it that are worth remembering, each in one spelling.
import { emailsIn, SHARED_MAIL, webAddressesIn } from './address.ts';
import { commandKey, commandsIn } from './command.ts';
import { hostOf, looksLikeHost } from './host.ts';
import { keyOf, numberKeysIn } from './number-keys.ts';
import { climbedTo, looksLikePath, pathOf } from './path.ts';

const WORD_LENGTH_MAX = 2_048;
const WORD_OVERLAP = 512;
const EDGED = /^[*_=:!?]|[*_=:!?.\u2026]$/;
const SEPARATORS = /[\s"'`<>()[\]{}|,;]+/;
/** Most words of most texts, which name nothing. */
const PLAIN_WORD = /^[A-Za-z]{1,19}$/;
const HANDLE = /^[@#][\p{L}\p{N}_][\p{L}\p{N}_.-]{1,63}$/u;

/** `owner/repository`. */
const SLUG = /^[\w.-]{1,64}\/[\w.-]{1,100}$/;
/** The id of a thing, named as such: `ID '13'`, `issue #7`. */
const THING =
  /(?:\b(?:ids?|identifiers?|numbers?|no\.|nr\.?)[\s:='"`([]{1,4}|#)(?=[\w-]{0,63}\d)([\w-]{1,64})/gi;

/**
 * The keys of everything in a text that is worth remembering; one text may give a key twice. Those
 * of one word come together: a host says less than the address that it stands in.
 */
export function* keysIn(text: string): Generator<readonly string[]> {
  for (const word of new Set(wordsIn(text))) {
    if (!PLAIN_WORD.test(word)) yield [...wordKeys(word)];
  }
  for (const key of numberKeysIn(text)) yield [key];
  for (const [, id = ''] of text.matchAll(THING)) yield [keyOf('thing', id)];
  for (const words of commandsIn(text)) {
    yield [keyOf('command', commandKey(words))];
    // The sentence may go on behind the command, so each beginning counts, too.
    for (let count = 2; count < words.length; count++) {
      yield [keyOf('command_part', commandKey(words.slice(0, count)))];
    }
  }
}

export function wordsIn(text: string): readonly string[] {
  const found: string[] = [];
  for (const piece of text.split(SEPARATORS)) {
    // Most pieces of most texts are short and plain.
    if (piece.length < 2) continue;
    for (const stretch of piece.length <= WORD_LENGTH_MAX ? [piece] : stretchesOf(piece)) {
      const word = EDGED.test(stretch) ? withoutEdges(stretch) : stretch;
      if (word.length > 1) found.push(word);
    }
  }
  return found;
}

/** Whether a text is one word to its last sign, as an address is that carries nothing else. */
export function isOneWord(text: string): boolean {
  return !SEPARATORS.test(text.trim());
}

function withoutEdges(word: string): string {
  return word.replace(/^[*_=:!?]+/, '').replace(/(?<![*_=:!?.\u2026])[*_=:!?.\u2026]+$/, '');
}

/** A very long word is looked at in stretches that overlap: what is at its end counts, too. */
function stretchesOf(word: string): readonly string[] {
  const stretches: string[] = [];
  for (let at = 0; at < word.length; at += WORD_LENGTH_MAX - WORD_OVERLAP) {
    stretches.push(word.slice(at, at + WORD_LENGTH_MAX));
  }
  return stretches;
}

function* wordKeys(word: string): Generator<string> {
  for (const { address, host } of emailsIn(word)) {
    yield keyOf('email', address);
    if (!SHARED_MAIL.has(host)) yield keyOf('host', host);
  }
  if (HANDLE.test(word)) yield keyOf('handle', word.slice(1));
  const web = /[/\\.?]/.test(word) ? webAddressesIn(word) : [];
  for (const { host, address } of web) {
    yield keyOf('host', host);
    if (address !== host) yield keyOf('url', address);
  }
  if (web.length === 0 && looksLikeHost(word)) {
    const host = hostOf(word);
    if (host !== undefined) yield keyOf('host', host);
  }
  if ((!word.includes('://') || /^file:/i.test(word)) && looksLikePath(word)) yield* pathKeys(word);
  yield* identifierKeys(word);
  if (SLUG.test(word)) yield keyOf('thing', word);
}

function* pathKeys(word: string): Generator<string> {
  // `--output=/etc/passwd` holds a path behind its sign.
  for (const part of new Set([word, word.slice(word.indexOf('=') + 1)])) {
    const path = pathOf(part);
    if (path === undefined) continue;
    yield keyOf('path', path);
    const climbed = climbedTo(path);
    if (climbed?.includes('/', 1)) yield keyOf('path', climbed);
  }
}

/** Letters and digits mixed, or very long: account names, wallets, hashes, ids. */
export function* identifierKeys(word: string): Generator<string> {
  for (const part of word.split(/[=:/?&#.@\\]+/)) {
    if (part.length < 8 || !/^[\p{L}\p{N}_-]+$/u.test(part)) continue;
    const mixed = /\d/.test(part) && /\p{L}/u.test(part);
    if (mixed || part.length >= 20) yield keyOf('identifier', part.replace(/[-_]/g, ''));
  }
}

// What a sentence claims, in a form that two sentences can be compared by. Simple sentences only: what is not
// understood contradicts nothing.

interface StatedFact {
  /** What it is about, such as `user favorite color` or `likes fish`. */
  readonly about: string;
  /** The words of the value; a claim that only affirms or denies has none. */
  readonly value: readonly string[];
  readonly isDenied: boolean;
}

const SENTENCES_MAX = 50;
const SENTENCE_UNITS_MAX = 400;
const ABOUT_WORDS_MAX = 8;

const NEGATION = "(?:not|never|no longer|n't)";
const IS = new RegExp(
  `^(.{1,160}?)\\s(?:is|are|was|were|=)(n't)?\\s(?:(${NEGATION})\\s)?(?:now\\s|actually\\s)?((?:at|in|on|by|from|for|with)\\s)?(.{1,200})$`,
  'i',
);
const LABEL = /^([\p{L}\p{N}' _-]{1,60}?)\s*:\s(.{1,200})$/u;
const DOES = new RegExp(
  `^(?:i|the user|user|he|she|they)\\s(?:(?:do|does|did)\\s?(?:not|n't)\\s|(never|no longer)\\s|(?:always|really|also)\\s)?(like|love|want|eat|drink|use|prefer|trust|work at|work for|live in|own|have|smoke|travel|speak)(?:s|es)?\\s(.{1,120})$`,
  'i',
);
const SKIPPED = new Set([
  'the',
  'a',
  'an',
  'my',
  'your',
  'user',
  "user's",
  'users',
  'his',
  'her',
  'their',
  'of',
  's',
  'now',
  'i',
  'that',
  'this',
]);
const SAME: { readonly [word: string]: string } = {
  favourite: 'favorite',
  colour: 'color',
  'e-mail': 'email',
  mail: 'email',
  phone: 'telephone',
  mobile: 'telephone',
  birthday: 'birthdate',
};

function words(text: string): readonly string[] {
  const found =
    text
      .toLowerCase()
      .normalize('NFKC')
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}@.'+/-]+/gu) ?? [];
  return found
    .map((word) => word.replace(/^[.'-]+|[.'-]+$|'s$/g, ''))
    .map((word) => SAME[word] ?? word)
    .filter((word) => word !== '' && !SKIPPED.has(word));
}

function claimOf(sentence: string): StatedFact | undefined {
  const does = DOES.exec(sentence);
  if (does !== null) {
    const [whole, never, verb = '', object = ''] = does;
    const isDenied = never !== undefined || /\b(?:do|does|did)\s?(?:not|n't)\b/i.test(whole);
    return claim(`${verb} ${object}`, '', isDenied);
  }
  const label = LABEL.exec(sentence);
  if (label !== null) return claim(label[1] ?? '', label[2] ?? '', false);
  const is = IS.exec(sentence);
  if (is === null) return undefined;
  const [, about = '', short, negation, preposition = '', value = ''] = is;
  return claim(`${about} ${preposition}`, value, short !== undefined || negation !== undefined);
}

function claim(about: string, value: string, isDenied: boolean): StatedFact | undefined {
  const key = words(about);
  if (key.length === 0 || key.length > ABOUT_WORDS_MAX) return undefined;
  return { about: key.toSorted().join(' '), value: words(value), isDenied };
}

function claimsOf(text: string): readonly StatedFact[] {
  return text
    .split(/[\n;!?]|\.(?=\s|$)/)
    .slice(0, SENTENCES_MAX)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && sentence.length <= SENTENCE_UNITS_MAX)
    .map(claimOf)
    .filter((found) => found !== undefined);
}

/** What the user has said, to be compared with. */
export class KnownClaims {
  readonly #claims = new Map<string, { readonly claim: StatedFact; readonly text: string }[]>();

  add(text: string): void {
    for (const found of claimsOf(text)) {
      const known = this.#claims.get(found.about) ?? [];
      known.push({ claim: found, text });
      this.#claims.set(found.about, known);
    }
  }

  /** What the user said that this text contradicts. */
  contradictedBy(text: string): string | undefined {
    for (const found of claimsOf(text)) {
      const known = this.#claims.get(found.about) ?? [];
      // Who has said it in these words as well is not contradicted.
      if (known.some(({ claim: other }) => !contradicts(found, other))) continue;
      const [first] = known;
      if (first !== undefined) return first.text;
    }
    return undefined;
  }
}

/** One value that is part of the other is a closer description, not another value. */
function contradicts(one: StatedFact, other: StatedFact): boolean {
  const isSame = isWithin(one.value, other.value) || isWithin(other.value, one.value);
  return one.isDenied === other.isDenied ? !isSame && !one.isDenied : isSame;
}

function isWithin(few: readonly string[], many: readonly string[]): boolean {
  return few.every((word) => many.includes(word));
}

// A rule that is a phrase: a keyword, and a pattern that begins there. A space in a pattern stands for
// whatever separates words, so that line breaks and emphasis hide nothing; every repeat is bounded,
// so that a pattern reads one short window. It reads it about once: a stretch of any text is followed by
// one thing to look for, and by a second one only through `first`.
import type { Range } from '../types.ts';
import type { FindingClass } from './types.ts';

export interface Phrase {
  readonly id: string;
  readonly class: FindingClass;
  /** Shown to people. */
  readonly label: string;
  /** The pattern is tried only where one of these stands, in upper or lower case. */
  readonly keywords: readonly string[];
  /** What a space stands for. `words`: anything between two words. `marks`: white space. */
  readonly over: 'words' | 'marks';
  readonly pattern: string;
  /** No match is shorter: a shorter rest of a text is not read, and a long pattern not compiled for it. */
  readonly unitsMin?: number;
  /** Upper and lower case differ. */
  readonly exactCase?: boolean;
  /** Where this matches the same window, the phrase means nothing. */
  readonly unless?: string;
  /** Its weight in an answer: 1 is a hint, 2 is likely, 3 is certain, 0 is nothing. */
  readonly score: number;
  /** Its weight in a definition; by default one more than in an answer. */
  readonly definitionScore?: number;
  /** It is evidence that adds up with other evidence, and a mention of it is none. */
  readonly isEvidence?: boolean;
}

export interface CompiledPhrase {
  readonly phrase: Phrase;
  readonly match: (text: string, at: number) => Range | undefined;
}

export const WINDOW = 400;
/**
 * What of ASCII is in no word. All that is no ASCII is in one, and is named by leaving out these: for a pattern
 * that ignores case the engine looks up each unit of a class, and it does so whenever the class is written.
 */
const NO_WORD = String.raw`\0-&(-/:-@\[-\x60{-\x7f`;
const BETWEEN = { words: `[${NO_WORD}]`, marks: String.raw`[\0-\x20]` };
const GAP_MAX = 6;

/** A letter, a digit or a part of a word in another script. */
function isWordAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const low = unit | 0x20;
  return (low >= 0x61 && low <= 0x7a) || (unit >= 0x30 && unit <= 0x39) || unit >= 0x80;
}

const ESCAPE_CLASS_OR_SPACE = /\\.|\[(?:\\.|[^\]\\])*\]| \??/g;

/** Puts what a space stands for into the pattern; inside of brackets it is any white space. */
function spelledOut(pattern: string, over: Phrase['over']): string {
  return pattern.replace(ESCAPE_CLASS_OR_SPACE, (part) => {
    if (part.startsWith('[')) return part.replaceAll(' ', String.raw`\s`);
    return part.startsWith(' ') ? `${BETWEEN[over]}{${2 - part.length},${GAP_MAX}}` : part;
  });
}

/** The pattern as the engine reads it, from a place on. */
export function patternOf({ pattern, over, exactCase = false }: Phrase): RegExp {
  return new RegExp(spelledOut(pattern, over), exactCase ? 'sy' : 'isy');
}

export function compilePhrase(phrase: Phrase): CompiledPhrase {
  const { over, unitsMin = 0 } = phrase;
  let pattern: RegExp | undefined;
  let unless: RegExp | undefined;
  return {
    phrase,
    match(text, at) {
      if (text.length - at < unitsMin) return undefined;
      if (over === 'words' && at > 0 && isWordAt(text, at - 1)) return undefined;
      // Compiled on first use: most patterns are never tried, and a start-up should not wait for them.
      pattern ??= patternOf(phrase);
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found === null || found[0] === '') return undefined;
      if (phrase.unless !== undefined) {
        unless ??= new RegExp(spelledOut(phrase.unless, over), 'is');
        if (unless.test(text.slice(at, at + WINDOW))) return undefined;
      }
      return { start: at, end: at + found[0].length };
    },
  };
}

// The words that phrases are made of, as parts of patterns. A space stands for what is between words.

/** One more word. */
export const W = `(?: [^${NO_WORD}]{1,32})`;
export const OTHER =
  'previous|previos|prevous|previuos|prior|preceding|earlier|above|foregoing|past|existing|original|initial|older?';
export const OWN = 'your|system|safety|security|developer|content|ethical|hidden|default|current';
/** The last one is `instructions` with a typo. */
export const ORDERS =
  'instructions?|prompts?|directives?|directions|guidelines?|guardrails?|programming|training|orders|assignments?|promts?|system messages?|i\\w{0,2}n?s?t\\w{0,2}r\\w{0,3}[ct]\\w{0,3}ons?';
export const RULES =
  'rules?|polic(?:y|ies)|constraints?|restrictions?|limitations?|commands?|messages?|context|conversation|tasks?|filters?|protocols?|checks?|measures|mechanisms|protections';
export const MODEL =
  'ai|a i|ai systems?|automated (?:systems?|processors?|agents?|readers?)|llms?|assistants?|language models?|models?|agents?|chatbots?|bots?|claude|chatgpt|gpt|gemini|copilot|cursor|codex';
export const TELL =
  'tell|inform|mention|notify|alert|reveal|disclose|show|report|let|warn|explain|say|ask';

/**
 * A part that is matched in one way only: the first that fits. Where more is to follow behind it, the
 * places where it fits as well are not tried one by one, each with all that may follow. The name is any
 * that no other group of the pattern has.
 */
export const first = (name: string, part: string): string => `(?=(?<${name}>${part}))\\k<${name}>`;

/** A phrase with what most of them have in common. */
export const phrase = (data: PhraseData): Phrase => ({
  class: 'injection',
  over: 'words',
  score: 2,
  isEvidence: true,
  ...data,
});

type PhraseData = Partial<Phrase> & Pick<Phrase, 'id' | 'label' | 'keywords' | 'pattern'>;

/** The keywords of a list such as `send|post |forward`, which may go on in the next line after a bar. */
export const keywordsIn = (list: string): readonly string[] => list.split(/\|(?:\n *)?/);

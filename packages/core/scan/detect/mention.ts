// Mention is not use: a text that quotes an attack, lists it in code or warns of it gives no order.
import type { Range } from '../types.ts';

const REACH = 160;
/** How far around a phrase its text may say that it is about attacks. */
const TOPIC_BEFORE = 1_200;
const TOPIC_AFTER = 400;
const CLOSING_REACH = 160;

/** Words of a text that speaks of a phrase, right before it. */
const ABOUT =
  /\b(?:such as|like|e\.g\.|for example|examples? of|phrases?|templates?|delimiters?|patterns?|strings?|payloads?|attacks?|attackers?|injections?|jailbreaks?|detect(?:s|ed|ion)?|flag(?:s|ged)?|block(?:s|ed)?|reject(?:s|ed)?|filter(?:s|ed)?|tests?|expect|assert|regex|says?|said|saying|contains?|containing|means?|called|titled|looks? for|match(?:es)?|quot(?:es?|ed|ing)|snapshot|stop|tokens?|instruct(?:s|ed|ing)? (?:it|the model) to|tells? (?:it|the model) to)\b/i;
/** Words of a text about attacks. Two different ones make it one. */
const TOPIC =
  /\b(?:(?:prompt[ -])?injec\w+|inyecci\w+|jailbreak\w*|red[ -]?team\w*|advers[ae]ri\w+|malicious|attackers?|attacks?|attack vectors?|vulnerabilit\w+|exploits?|payloads?|guardrails?|poison\w+|threat\w*|owasp|mitigat\w+|defen[cs]es?|safeguards?|detect(?:or|ion|s)?|harmful|untrusted|sanitiz\w+|angriff\w*|attaqu\w+|ataqu\w+)\b|инъекц|атак|注入|攻击|对抗|حقن|هجو/gi;
const OPENING = /(?:^|[\s([{,=:>|*-])(["'`“‘«/]{1,3})(?=[^"'`“”‘’«»/\n]*$)/;
/** Syntax of data before a quote: the quote belongs to a value, and says nothing about mention. */
const DATA_BEFORE = /[:=,[{]\s*$/;
/** A quotation of several sentences is a text of its own, and no part of the sentence that quotes it. */
const SENTENCE_END = /[.!?](?:\\n|\s)+[^\s"'`”’»]/;
const CLOSES: { readonly [opening: string]: string } = { '“': '”', '‘': '’', '«': '»' };
/** A list, a table, a heading, a quotation or a comment of code: set off from what the text says. */
const SET_OFF_LINE = /(?:^|\n)[ \t]*(?:[-*+•>|#]|\d{1,3}[.)]|\/\/|\/\*|"""|'''|<!--)[^\n]*$/;
const FENCE = /(?:^|\n)[ \t]*(?:```|~~~)/g;
/** Words that take an order back, or say that somebody else gives it. */
const NEGATED =
  /\b(?:never|not|don['’]t|cannot|can['’]t|won['’]t|mustn['’]t|shouldn['’]t|refuse|avoid|without|prevent\w*|against|attempt(?:s|ed|ing)?|tr(?:y|ies|ied|ying)|(?:ask|instruct|tell|told|trick|convinc|caus|mak|gett?|allow|command|order)(?:e|s|es|ed|ing)?(?: (?:it|them|an?|the|other|your?|users?|models?|agents?|assistants?|llms?|ai|system)){1,4}|whether|(?<!you )(?:could|would|might|will|may|can)|we|they|users?|attackers?|hackers?|adversar\w+|which|that)(?:[ \t]+(?:to|ever|then|simply|just|be|also|directly|completely|or|and|may|can|could|will|who|it))*[ \t]+$/i;

/** Whether the words before a phrase take it back or give it to somebody else. */
export function isNegated(text: string, start: number): boolean {
  return NEGATED.test(text.slice(Math.max(0, start - 60), start));
}

/**
 * Whether a text speaks of the phrase instead of saying it. `quoted`: its own sentence quotes it.
 * `set-off`: it stands apart in a text about attacks, which is a frame that a sender can make.
 */
export function mentionOf(text: string, range: Range): 'quoted' | 'set-off' | undefined {
  const { start, end } = range;
  const before = text.slice(Math.max(0, start - REACH), start);
  const quote = OPENING.exec(before);
  const closing = quote === null ? undefined : (CLOSES[quote[1] ?? ''] ?? quote[1]);
  const behind = text.slice(start + 1, end + CLOSING_REACH);
  const closingAt = closing === undefined ? -1 : behind.indexOf(closing);
  const isQuoted = closingAt !== -1;
  if (isQuoted && !SENTENCE_END.test(before.slice(quote?.index) + behind.slice(0, closingAt))) {
    const opening = before.slice(0, (quote?.index ?? 0) + 1);
    const isDirect = /["'`“‘«]{1,3}$/.test(before) && !DATA_BEFORE.test(opening);
    if (isDirect || ABOUT.test(before)) return 'quoted';
  }
  const isSetOff = isQuoted || SET_OFF_LINE.test(before) || isFenced(text, start);
  return isSetOff && isAboutAttacks(text, range) ? 'set-off' : undefined;
}

/** An address, a mailbox or a name such as a tool has. */
const ACTION = /\bhttps?:\/\/|[\w.+-]@[\w-]{1,60}\.[a-z]|\b[a-z]{2,20}_[a-z]{2,20}/i;

/** Whether a phrase, or what follows it, names a place to send to or a tool. */
export function carriesAction(text: string, { start, end }: Range): boolean {
  return ACTION.test(text.slice(start, end + REACH));
}

/** Whether an odd number of fences stands before, as far as is looked. */
function isFenced(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 4_000), at);
  return (before.match(FENCE)?.length ?? 0) % 2 === 1;
}

function isAboutAttacks(text: string, { start, end }: Range): boolean {
  const before = text.slice(Math.max(0, start - TOPIC_BEFORE), start);
  const words = [...before.matchAll(TOPIC), ...text.slice(end, end + TOPIC_AFTER).matchAll(TOPIC)];
  return new Set(words.map(([word]) => word.toLowerCase().slice(0, 6))).size >= 2;
}

// All rules that are phrases: orders to the model, hidden markup, labelled personal data.
import { keywordStart } from '../text/keyword-table.ts';
import type { Range } from '../types.ts';
import { addUp, type Evidence } from './evidence.ts';
import { LABELS_FROM, NO_KEYWORDS, PHRASES, scanKeywords } from './keywords.ts';
import { carriesAction, isNegated, mentionOf } from './mention.ts';
import { compilePhrase, type Phrase, WINDOW } from './phrase.ts';
import type { TextSurvey } from './survey.ts';
import type { Detection, FindingClass, Strictness } from './types.ts';

const COMPILED = PHRASES.map(compilePhrase);
const SCORE_MAX = 3;
const HINT = 1;
/** Of so many pieces of evidence nobody asks any more whether each is a mention: it costs a look around. */
const ASKED_MAX = 2_000;

/** The phrases from this one on are looked for. Of what nobody asked for, only that which supports the rest. */
function firstPhrase(classes: ReadonlySet<FindingClass>): number {
  if (classes.has('injection') || classes.has('hidden_text')) return 0;
  return classes.has('personal') ? LABELS_FROM : PHRASES.length;
}

export function hasPhrases(classes: ReadonlySet<FindingClass>): boolean {
  return firstPhrase(classes) < PHRASES.length;
}

export function detectPhrases(
  detection: Detection,
  { keywords }: TextSurvey,
  classes: ReadonlySet<FindingClass>,
): void {
  const { view, meter, strictness } = detection;
  const { text } = view;
  const first = firstPhrase(classes);
  if (first === PHRASES.length) return;
  meter.steps += text.length;
  if (keywords.length === 0) return;
  const { phrases } = scanKeywords();
  const found: Evidence[] = [];
  let readTo: Int32Array | undefined;
  for (let at = 0; at < keywords.length; at += 2) {
    for (const keyword of phrases.get(keywords[at + 1] ?? 0) ?? NO_KEYWORDS) {
      const index = keyword.rule;
      const rule = COMPILED[index];
      const start = index < first ? -1 : keywordStart(text, keywords[at] ?? 0, keyword);
      if (rule === undefined || start < (readTo?.[index] ?? 0)) continue;
      if (meter.steps > meter.stepsMax || scoreIn(rule.phrase, strictness) === 0) continue;
      meter.steps += WINDOW;
      const range = rule.match(text, start);
      if (range === undefined) continue;
      readTo ??= new Int32Array(COMPILED.length);
      readTo[index] = range.end;
      const isAsked = found.length < ASKED_MAX;
      found.push(evidenceOf(detection, rule.phrase, { ...range, isAsked }));
    }
  }
  for (const evidence of addUp(found)) report(detection, evidence);
}

function scoreIn({ score, definitionScore }: Phrase, strictness: Strictness): number {
  return strictness === 'result' ? score : (definitionScore ?? Math.min(SCORE_MAX, score + 1));
}

/** What a phrase is worth where it stands: nothing where it is mentioned, more where it is wrapped. */
function evidenceOf(
  { view, strictness }: Detection,
  phrase: Phrase,
  { start, end, isAsked }: Range & { readonly isAsked: boolean },
): Evidence {
  const base = scoreIn(phrase, strictness);
  const plain = { start, end, phrase, weight: base };
  // An order that is wrapped is meant.
  if (view.isWrapped(plain)) return { ...plain, weight: base + 1 };
  if (phrase.isEvidence !== true || !isAsked) return plain;
  const mention = isNegated(view.text, start) ? 'quoted' : mentionOf(view.text, plain);
  // A definition has no reason to show attacks: there, only a negation or a quotation counts.
  if (mention === undefined || (mention !== 'quoted' && strictness === 'definition')) return plain;
  if (mention === 'quoted') return { ...plain, weight: 0 };
  return { ...plain, weight: 0, setOff: { weight: base, acts: carriesAction(view.text, plain) } };
}

function report({ view, found }: Detection, { phrase, weight, start, end }: Evidence): void {
  // Suppressions know the phrase alone; what is redacted is the order, to the end of its sentence.
  const value = view.text.slice(start, end).toLowerCase().replaceAll(/\s+/g, ' ');
  const isOrder = phrase.isEvidence === true && weight > HINT;
  const { class: name, id: rule, label } = phrase;
  const score = Math.min(SCORE_MAX, Math.max(HINT, weight));
  const orderEnd = isOrder ? sentenceEnd(view.text, end) : end;
  found({ class: name, rule, label, start, end, orderEnd, value, score });
}

const SENTENCE_REST = /(?:(?![.!?](?:\s|$)|["<>]|\\n)[^\n]){0,200}/y;

function sentenceEnd(text: string, from: number): number {
  SENTENCE_REST.lastIndex = from;
  return from + (SENTENCE_REST.exec(text)?.[0].length ?? 0);
}

export const PHRASE_RULES: readonly string[] = [...new Set(PHRASES.map(({ id }) => id))];

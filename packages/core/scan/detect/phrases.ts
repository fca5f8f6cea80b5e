// All rules that are phrases, behind one prefilter: orders to the model, hidden markup, labelled
// personal data.
import { createPrefilter, type Prefilter } from '../text/keyword-search.ts';
import type { Range } from '../types.ts';
import { addUp, type Evidence } from './evidence.ts';
import { carriesAction, isNegated, mentionOf } from './mention.ts';
import type { CompiledPhrase, Phrase } from './phrase.ts';
import { compilePhrase, WINDOW } from './phrase.ts';
import { CARRIED_OUT } from './phrases-exfiltration.ts';
import { MARKUP } from './phrases-hidden.ts';
import { LABELLED } from './phrases-labels.ts';
import { OVERRIDE } from './phrases-override.ts';
import { SPEECH } from './phrases-speech.ts';
import type { Detection, FindingClass, Strictness } from './types.ts';

const PHRASES: readonly Phrase[] = [...OVERRIDE, ...SPEECH, ...CARRIED_OUT, ...MARKUP, ...LABELLED];
/** Rules that are looked for together. Orders and hidden markup support each other; labels stand alone. */
const SETS = {
  all: lazyPhraseSet(PHRASES),
  labels: lazyPhraseSet(LABELLED),
};
const SCORE_MAX = 3;
const HINT = 1;
/** Of so many pieces of evidence nobody asks any more whether each is a mention: it costs a look around. */
const ASKED_MAX = 2_000;

interface PhraseSet {
  readonly compiled: readonly CompiledPhrase[];
  readonly prefilter: Prefilter;
}

/** Made when it is first asked for: most processes need one, or none. */
function lazyPhraseSet(phrases: readonly Phrase[]): () => PhraseSet {
  let made: PhraseSet | undefined;
  return () => (made ??= phraseSet(phrases));
}

function phraseSet(phrases: readonly Phrase[]): PhraseSet {
  const rules = phrases.map(({ id, keywords }) => ({ name: id, keywords, anyCase: true }));
  return { compiled: phrases.map(compilePhrase), prefilter: createPrefilter(rules) };
}

/** Of what nobody asked for, only that is looked for which supports the rest. */
export function detectPhrases(detection: Detection, classes: ReadonlySet<FindingClass>): void {
  if (classes.has('injection') || classes.has('hidden_text')) detectSet(detection, SETS.all());
  else if (classes.has('personal')) detectSet(detection, SETS.labels());
}

function detectSet(detection: Detection, { compiled, prefilter }: PhraseSet): void {
  const { view, meter, strictness } = detection;
  const { text } = view;
  const readTo = new Int32Array(compiled.length);
  const found: Evidence[] = [];
  meter.steps += text.length;
  prefilter.scan(text, (index, at) => {
    const rule = compiled[index];
    if (rule === undefined || at < (readTo[index] ?? 0) || meter.steps > meter.stepsMax) return;
    if (scoreIn(rule.phrase, strictness) === 0) return;
    meter.steps += WINDOW;
    const range = rule.match(text, at);
    if (range === undefined) return;
    readTo[index] = range.end;
    const isAsked = found.length < ASKED_MAX;
    found.push(evidenceOf(detection, rule.phrase, { ...range, isAsked }));
  });
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

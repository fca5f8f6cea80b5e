// All rules that are phrases, behind one prefilter: orders to the model, hidden markup, labelled
// personal data.
import { createPrefilter, type Prefilter } from '../text/keyword-search.ts';
import type { Range } from '../types.ts';
import type { CompiledPhrase, Phrase } from './phrase.ts';
import { compilePhrase, isMention, WINDOW } from './phrase.ts';
import { CARRIED_OUT } from './phrases-exfiltration.ts';
import { MARKUP } from './phrases-hidden.ts';
import { LABELLED } from './phrases-labels.ts';
import { OVERRIDE } from './phrases-override.ts';
import { SPEECH } from './phrases-speech.ts';
import type { Detection, Strictness } from './types.ts';

const PHRASES: readonly Phrase[] = [...OVERRIDE, ...SPEECH, ...CARRIED_OUT, ...MARKUP, ...LABELLED];
const COMPILED: readonly CompiledPhrase[] = PHRASES.map(compilePhrase);
/** Quoted by a text that speaks of it. */
const MENTION = 2;
const SCORE_MAX = 3;

let prefilter: Prefilter | undefined;

export function detectPhrases(detection: Detection): void {
  const { view, meter, strictness } = detection;
  const { text } = view;
  prefilter ??= createPrefilter(
    PHRASES.map(({ id, keywords }) => ({ name: id, keywords, anyCase: true })),
  );
  const readTo = new Int32Array(COMPILED.length);
  meter.steps += text.length;
  prefilter.scan(text, (index, at) => {
    const rule = COMPILED[index];
    if (rule === undefined || at < (readTo[index] ?? 0) || meter.steps > meter.stepsMax) return;
    if (scoreIn(rule.phrase, strictness) === 0) return;
    meter.steps += WINDOW;
    const range = rule.match(text, at);
    if (range === undefined) return;
    readTo[index] = range.end;
    report(detection, rule.phrase, range);
  });
}

function scoreIn({ score, definitionScore }: Phrase, strictness: Strictness): number {
  return strictness === 'result' ? score : (definitionScore ?? Math.min(SCORE_MAX, score + 1));
}

function report({ view, strictness, found }: Detection, phrase: Phrase, range: Range): void {
  const { text } = view;
  const wrapped = view.isWrapped(range);
  const base = scoreIn(phrase, strictness);
  const mentioned = phrase.mentionable === true && !wrapped && isMention(text, range);
  // An order that is wrapped is meant.
  const score = mentioned ? Math.max(1, base - MENTION) : base + (wrapped ? 1 : 0);
  const value = text.slice(range.start, range.end).toLowerCase().replaceAll(/\s+/g, ' ');
  const { class: name, id: rule, label } = phrase;
  found({ class: name, rule, label, ...range, value, score: Math.min(SCORE_MAX, score) });
}

export const PHRASE_RULES: readonly string[] = [...new Set(PHRASES.map(({ id }) => id))];

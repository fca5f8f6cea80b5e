// Injected secrets in what passes: the agent never sees one, and never sends one.
import { stringEnd } from '../json/text-parts.ts';
import { compatible } from '../surface/names/spelling.ts';
import type { LeakFinder } from './leak-finder.ts';
import { holdsNumber, textsOf, withTexts } from './walk.ts';

export type Cleaned =
  | { readonly kind: 'clean' }
  | { readonly kind: 'redacted'; readonly value: unknown; readonly names: readonly string[] }
  /** It stands where nothing can be put in its place, or it is spread over several places. */
  | { readonly kind: 'stuck'; readonly names: readonly string[] };

/** A value, and the JSON that it was parsed from, if that is known. */
export interface Carrier {
  readonly value: unknown;
  readonly text?: string | undefined;
}

/** The names of the secrets in a value, at any place of it. */
export function leaksIn(finder: LeakFinder, value: unknown): readonly string[] {
  return namesIn(finder, viewsOf(value));
}

function namesIn(finder: LeakFinder, views: readonly string[]): readonly string[] {
  if (!views.some((view) => finder.has(view))) return [];
  const names = finder.namesIn(views);
  return names.length === 0 ? ['injected'] : names;
}

/** As it is written, and its parts alone: a secret may be cut by neither escapes nor quotes. */
function viewsOf(value: unknown): readonly string[] {
  const written = JSON.stringify(value) ?? '';
  const texts = textsOf(value);
  const views = texts.length < 2 ? [written, ...texts] : [written, texts.join('')];
  return OTHER_FORMS.test(written) ? [...views, compatible(texts.join(''))] : views;
}

/** Full width, in circles, raised, or as mathematicians write: letters of which there are others. */
const OTHER_FORMS = /[\u2070-\u209f\u2460-\u24ff\uff01-\uff5e\ud835\ud83c\ud83e]/;

/** The names of secrets in numbers that have lost digits when they were parsed. */
export function leaksInNumbers(finder: LeakFinder, carrier: Carrier): readonly string[] {
  if (!finder.hasDigits || !holdsNumber(carrier.value)) return [];
  const numbers = lossyNumbers(carrier.text ?? '');
  return numbers.length === 0 ? [] : namesIn(finder, [numbers.join(' '), numbers.join('')]);
}

const NUMBER = /-?\d[\d.eE+-]*/g;

/** The numbers of a JSON text that are written otherwise than what they were parsed to. */
function lossyNumbers(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const between = text.slice(at, quote === -1 ? text.length : quote);
    for (const [number] of between.matchAll(NUMBER)) {
      if (String(Number(number)) !== number) found.push(number);
    }
    at = quote === -1 ? text.length : stringEnd(text, quote);
    if (at === -1) break;
  }
  return found;
}

/** Takes the secrets out of every text of a value. */
export function withoutLeaks(finder: LeakFinder, carrier: Carrier): Cleaned {
  // A number keeps its digits on its way, whatever else is changed.
  const stuck = leaksInNumbers(finder, carrier);
  if (stuck.length > 0) return { kind: 'stuck', names: stuck };
  const { value } = carrier;
  const names = leaksIn(finder, value);
  if (names.length === 0) return { kind: 'clean' };
  const cleaned = withTexts(value, (text) => finder.redact(text));
  if (leaksIn(finder, cleaned).length > 0) return { kind: 'stuck', names };
  return { kind: 'redacted', value: cleaned, names };
}

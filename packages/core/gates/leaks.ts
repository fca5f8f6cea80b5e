// Injected secrets in what passes: the agent never sees one, and never sends one.
import type { LeakFinder } from './leak-finder.ts';
import { textsOf, withTexts } from './walk.ts';

type Cleaned =
  | { readonly kind: 'clean' }
  | { readonly kind: 'redacted'; readonly value: unknown; readonly names: readonly string[] }
  /** It stands where nothing can be put in its place, or it is spread over several places. */
  | { readonly kind: 'stuck'; readonly names: readonly string[] };

/** The names of the secrets in a value, at any place of it. */
function leaksIn(finder: LeakFinder, value: unknown): readonly string[] {
  const views = viewsOf(value);
  if (!views.some((view) => finder.has(view))) return [];
  const names = finder.namesIn(views);
  return names.length === 0 ? ['injected'] : names;
}

/** As it is written, and its parts alone: a secret may be cut by neither escapes nor quotes. */
function viewsOf(value: unknown): readonly string[] {
  const written = JSON.stringify(value) ?? '';
  const texts = textsOf(value);
  return texts.length < 2 ? [written, ...texts] : [written, texts.join('')];
}

/** Takes the secrets out of every text of a value. */
function withoutLeaks(finder: LeakFinder, value: unknown): Cleaned {
  const names = leaksIn(finder, value);
  if (names.length === 0) return { kind: 'clean' };
  const cleaned = withTexts(value, (text) => finder.redact(text));
  if (leaksIn(finder, cleaned).length > 0) return { kind: 'stuck', names };
  return { kind: 'redacted', value: cleaned, names };
}

export type { Cleaned };
export { leaksIn, withoutLeaks };

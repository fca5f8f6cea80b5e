// A secret that was found once is looked for everywhere: a second copy may stand where nothing
// around it gives it away.
import { createPrefilter } from '../prefilter.ts';
import type { Step } from './path.ts';
import { itemStep, memberStep, OF_KEY, pathOf } from './path.ts';
import type { Finding } from './types.ts';

interface Copy {
  readonly start: number;
  readonly end: number;
  readonly rule: string;
}

/** Shorter ones would take words apart that have nothing to do with them. */
const LENGTH_MIN = 8;
const SECRETS_MAX = 256;
const LENGTH_MAX = 4_096;
const DEPTH_MAX = 512;

/** Finds copies of the secrets in any text of the value that they were found in. */
export function carriedElsewhere(
  value: unknown,
  secrets: readonly Finding[],
): (text: string) => readonly Copy[] {
  const texts = textsAt(value, new Set(secrets.map(({ path }) => path ?? pathOf(undefined))));
  const rules = new Map<string, string>();
  for (const { path, start, end, rule } of secrets) {
    const secret = texts.get(path ?? pathOf(undefined))?.slice(start, end) ?? '';
    const fits = secret.length >= LENGTH_MIN && secret.length <= LENGTH_MAX;
    if (fits && rules.size < SECRETS_MAX) rules.set(secret, rule);
  }
  if (rules.size === 0) return () => [];
  const known = [...rules];
  const prefilter = createPrefilter(
    known.map(([secret, name]) => ({
      name,
      keywords: [secret],
      anyCase: false,
      match: () => undefined,
    })),
  );
  return (text) => {
    const copies: Copy[] = [];
    if (text.length < LENGTH_MIN) return copies;
    prefilter.scan(text, (index, start) => {
      const [secret = '', rule = ''] = known[index] ?? [];
      copies.push({ start, end: start + secret.length, rule });
    });
    return copies;
  };
}

/** The texts at some paths. */
function textsAt(value: unknown, paths: ReadonlySet<string>): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const keep = (path: string, text: string) => {
    if (paths.has(path)) texts.set(path, text);
  };
  const visit = (at: unknown, step: Step | undefined, depth: number): void => {
    if (typeof at === 'string') keep(pathOf(step), at);
    if (typeof at !== 'object' || at === null || depth > DEPTH_MAX) return;
    if (Array.isArray(at)) {
      for (const [index, item] of at.entries()) {
        visit(item, itemStep(step, index), depth + 1);
      }
      return;
    }
    for (const [index, [key, member]] of Object.entries(at).entries()) {
      const child = memberStep(step, key, index);
      keep(pathOf(child) + OF_KEY, key);
      visit(member, child, depth + 1);
    }
  };
  visit(value, undefined, 0);
  return texts;
}

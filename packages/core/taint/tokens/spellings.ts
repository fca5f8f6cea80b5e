// One text in the spellings under which it may come back: without what cannot be seen, and with
// percent signs, escapes and entities undone.
import { Effort } from './effort.ts';
import { folded } from './fold.ts';
import { withPlainMail, withPlainPlaces } from './odd-forms.ts';

const ROUNDS_MAX = 3;
const UNITS_MAX = 1_048_576;
/** Another spelling of the same text: whoever looks at all of it again pays for that. */
const AGAIN = 0.25;
const ENTITIES: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  commat: '@',
  period: '.',
  sol: '/',
  colon: ':',
};

/** The text itself first, then what it becomes when it is decoded, each once. */
export function spellingsOf(text: string, effort = new Effort(UNITS_MAX)): readonly string[] {
  let current = taken(text, effort, 1);
  const found = new Set([current]);
  for (let round = 0; round < ROUNDS_MAX && !effort.isSpent; round++) {
    const next = decoded(current);
    if (next === current) break;
    current = taken(next, effort, AGAIN);
    found.add(current);
  }
  const plain = withPlainSigns(current);
  if (!found.has(plain) && effort.spend(plain.length * AGAIN)) found.add(plain);
  return [...found];
}

/** Folding may make a text much longer: as much of it as there is effort left for. */
function taken(text: string, effort: Effort, share: number): string {
  const found = folded(text, effort.left + 1);
  return effort.spend(found.length * share) ? found : '';
}

function decoded(text: string): string {
  let current = text;
  if (current.includes('%')) current = current.replace(/(?:%[0-9a-f]{2})+/gi, percentDecoded);
  if (current.includes('&')) {
    current = current.replace(/&(#x?[0-9a-f]{1,6}|[a-z]{2,6});/gi, entityDecoded);
  }
  if (current.includes('\\')) {
    current = current.replace(/\\(u[0-9a-f]{4}|x[0-9a-f]{2}|\/)/gi, escapeDecoded);
  }
  return current;
}

function percentDecoded(run: string): string {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
}

function entityDecoded(whole: string, body: string): string {
  if (!body.startsWith('#')) {
    const name = body.toLowerCase();
    return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
  }
  const point = /^#x/i.test(body)
    ? Number.parseInt(body.slice(2), 16)
    : Number.parseInt(body.slice(1), 10);
  return isCharacter(point) ? String.fromCodePoint(point) : whole;
}

function escapeDecoded(whole: string, body: string): string {
  if (body === '/') return '/';
  const point = Number.parseInt(body.slice(1), 16);
  return isCharacter(point) ? String.fromCodePoint(point) : whole;
}

function isCharacter(point: number): boolean {
  return point > 0 && point <= 0x10_ff_ff && !(point >= 0xd800 && point <= 0xdfff);
}

/** `eve [at] evil [dot] example` and `hxxps://evil[.]example`, as people write them for filters. */
function withPlainSigns(text: string): string {
  const plain = /[[({]/.test(text) ? withoutBrackets(text) : text;
  return withPlainMail(withPlainPlaces(plain.replace(/\bhxxp(?=s?:)/gi, 'http')));
}

function withoutBrackets(text: string): string {
  return text
    .replace(/\s{0,4}[[({]\s{0,4}(?:at|@)\s{0,4}[\])}]\s{0,4}/gi, '@')
    .replace(/\s{0,4}[[({]\s{0,4}(?:dot|\.)\s{0,4}[\])}]\s{0,4}/gi, '.')
    .replace(/[[({]:[\])}]/g, ':');
}

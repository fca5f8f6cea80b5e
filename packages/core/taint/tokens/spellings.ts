// One text in the spellings under which it may come back: without what cannot be seen, and with
// percent signs, escapes and entities undone.
import { character } from '../../shell/index.ts';
import { plainIpv6 } from './host.ts';

const ROUNDS_MAX = 3;
const UNITS_MAX = 1_048_576;
/** The share that another spelling of the same text costs. */
const AGAIN = 0.25;
/** Names of entities, and at the end of each its character. */
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['nbsp', ' '],
  ...`amp& lt< gt> quot" apos' commat@ period. sol/ colon:`
    .split(' ')
    .map((entry) => [entry.slice(0, -1), entry.slice(-1)] as const),
]);

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
  if (!body.startsWith('#')) return ENTITIES.get(body.toLowerCase()) ?? whole;
  if (/^#x/i.test(body)) return character(Number.parseInt(body.slice(2), 16), whole);
  return character(Number.parseInt(body.slice(1), 10), whole);
}

function escapeDecoded(whole: string, body: string): string {
  return body === '/' ? '/' : character(Number.parseInt(body.slice(1), 16), whole);
}

/** `eve [at] evil [dot] example` and `hxxps://evil[.]example`, as people write them for filters. */
function withPlainSigns(text: string): string {
  const plain = /[[({]/.test(text) ? withoutBrackets(text) : text;
  const spoken = / dot /i.test(plain) ? plain.replace(SPOKEN, spokenPlace) : plain;
  return withPlainMail(withPlainPlaces(spoken.replace(/\bhxxp(?=s?:)/gi, 'http')));
}

/** `eve at evil dot example`. */
const SPOKEN = /[\w+-]{1,64}(?: (?:dot|at) [\w+-]{1,64}){1,8}/gi;

function spokenPlace(match: string): string {
  return match.replace(/ at /gi, '@').replace(/ dot /gi, '.');
}

function withoutBrackets(text: string): string {
  return text
    .replace(/\s{0,4}[[({]\s{0,4}(?:at|@)\s{0,4}[\])}]\s{0,4}/gi, '@')
    .replace(/\s{0,4}[[({]\s{0,4}(?:dot|\.)\s{0,4}[\])}]\s{0,4}/gi, '.')
    .replace(/[[({]:[\])}]/g, ':');
}

/** A break inside of `http://ev\til.example`, which browsers leave out. */
const BROKEN_HOST =
  /[a-z][a-z0-9+.-]{1,20}:[/\\]{0,8}[^\s/\\?#]{0,253}(?:[\t\r\n]{1,8}[^\s/\\?#]{1,253}){1,4}/gi;
/** Without brackets only those that stand for an address of version 4. */
const IPV6 =
  /\[[0-9a-f:.]{2,45}(?:%[\w.-]{1,16})?\]|(?<![\w:.])(?:0{0,4}:){2,5}ffff:[0-9a-f:.]{3,15}/gi;

/** Hosts of addresses, in one piece and by their number. */
function withPlainPlaces(text: string): string {
  if (!text.includes(':')) return text;
  const whole = /[\t\r\n]/.test(text)
    ? text.replace(BROKEN_HOST, (match) => match.replace(/[\t\r\n]+/g, ''))
    : text;
  return whole.includes('::') || /:ffff:/i.test(whole) ? whole.replace(IPV6, plainIpv6) : whole;
}

/** `"eve"@evil.example`, `eve(x)@evil.example`, `eve @evil.example`: RFC 5322 takes them all. */
function withPlainMail(text: string): string {
  if (!text.includes('@')) return text;
  return text
    .replace(/\s{0,4}\([^()@]{0,64}\)\s{0,4}(?=@)/g, '')
    .replace(/@\s{0,4}\([^()@]{0,64}\)\s{0,4}/g, '@')
    .replace(/"((?:[^"\\\s@]|\\[^\s@]){1,64})"\s{0,4}(?=@)/g, (_, local: string) => {
      return local.replaceAll('\\', '');
    })
    .replace(/(?<=[\p{L}\p{N}_+'-])\s{1,4}@\s{0,4}(?=[\p{L}\p{N}-]{1,63}\s{0,4}\.)/gu, '@')
    .replace(/(?<=[\p{L}\p{N}_+'-]@)\s{1,4}(?=[\p{L}\p{N}-]{1,63}\s{0,4}\.)/gu, '')
    .replace(/(?<=@[\p{L}\p{N}.-]{1,253})[\t\r\n]{1,4}(?=\.[\p{L}\p{N}])/gu, '')
    .replace(/(?<=@[\p{L}\p{N}.-]{1,253}\.)[\t\r\n]{1,4}(?=[\p{L}\p{N}])/gu, '');
}

// One form for letters that are the same letter, within bounds: one character may become eighteen.

const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Sorting a long run of marks takes time by its square; no word has more than a few. */
const MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
const ASCII_ONLY = /^[\0-\x7f]*$/;
/** What may melt into the character before it: marks, the later parts of Hangul, second halves. */
const JOINS_BEFORE = /^[\p{M}\uff9e\uff9f\u1160-\u11ff\udc00-\udfff]/u;
const PART_LENGTH = 4_096;
const SHIFT_MAX = 64;

/** Compatible forms become one, and what is invisible goes: `ｅｖｉｌ` is `evil`. */
export function folded(text: string, lengthMax: number = Number.MAX_SAFE_INTEGER): string {
  if (ASCII_ONLY.test(text)) return text.slice(0, lengthMax);
  const plain = text.replace(MARKS, '$1');
  let found = '';
  for (let at = 0; at < plain.length && found.length < lengthMax; ) {
    const end = cutAfter(plain, at + PART_LENGTH);
    found += foldedPart(plain.slice(at, end));
    at = end;
  }
  return found.slice(0, lengthMax);
}

function foldedPart(part: string): string {
  return part.normalize('NFKC').replace(IGNORABLE, '').replace(/[。｡]/g, '.');
}

/** The next place where a cut changes nothing of what stands on its sides. */
function cutAfter(text: string, from: number): number {
  for (let at = from; at < text.length && at < from + SHIFT_MAX; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) return at;
    if ((code & 0xfc00) === 0xdc00) continue;
    if (!JOINS_BEFORE.test(text.slice(at, at + 2))) return at;
  }
  return Math.min(text.length, from + SHIFT_MAX);
}

// How much looking a text may cost. What it is counted in is about the work for one character.

/** Counts down; what is beyond the limit is not looked at, and `isSpent` says so. */
export class Effort {
  #left: number;

  constructor(unitsMax: number) {
    this.#left = unitsMax;
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Whether something was left out. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** False when there is not enough left for it: from then on there is nothing left. */
  spend(units: number): boolean {
    if (this.#left >= 0) this.#left -= units;
    return this.#left >= 0;
  }
}

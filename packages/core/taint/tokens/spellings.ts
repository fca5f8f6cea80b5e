// One text in the spellings under which it may come back: without what cannot be seen, and with
// percent signs, escapes and entities undone.

const IGNORABLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const ROUNDS_MAX = 3;
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

/** Compatible forms become one, and what is invisible goes: `ｅｖｉｌ` is `evil`. */
function folded(text: string): string {
  return text.normalize('NFKC').replace(IGNORABLE, '').replace(/[。｡]/g, '.');
}

/** The text itself first, then what it becomes when it is decoded, each once. */
function spellingsOf(text: string): readonly string[] {
  const found = new Set([folded(text)]);
  let current = folded(text);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const next = folded(decoded(current));
    if (next === current) break;
    found.add(next);
    current = next;
  }
  found.add(withPlainSigns(current));
  return [...found];
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
  return text
    .replace(/\s{0,4}[[({]\s{0,4}(?:at|@)\s{0,4}[\])}]\s{0,4}/gi, '@')
    .replace(/\s{0,4}[[({]\s{0,4}(?:dot|\.)\s{0,4}[\])}]\s{0,4}/gi, '.')
    .replace(/\bhxxp(?=s?:)/gi, 'http')
    .replace(/[[({]:[\])}]/g, ':');
}

export { folded, spellingsOf };

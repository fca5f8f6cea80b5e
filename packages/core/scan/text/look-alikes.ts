// A character as a reader, or a model, takes it: compatibility forms, look-alikes, digits of other
// scripts and accents brought to ASCII, what can't be seen dropped, Unicode tags decoded.

const TAG_MIN = 0xe_0020;
const TAG_MAX = 0xe_007e;
const TAG_BASE = 0xe_0000;
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u;
const SPACE = /^\p{Z}$/u;
const MARKS = /\p{M}+/gu;
const ASCII = /^[\0-\x7f]*$/;
/** Scripts that have nothing to fold: looking them up would cost and bring nothing. */
const PLAIN = /[\u3040-\u318f\u3400-\u4dbf\u4e00-\ua48f\uac00-\ud7a3]/;
const CACHE_MAX = 8_192;

const cache = new Map<string, string>();
const LETTERS = 26;
/** Regional indicators, and capitals in black circles and black squares. */
const SIGN_LETTERS = [0x1_f1e6, 0x1_f150, 0x1_f170];
const DIGIT = /^\p{Nd}$/u;
const DIGIT_RUN_MAX = 100;

/** One character, which may take two units. */
export function foldChar(char: string): string {
  if (PLAIN.test(char)) return char;
  const known = cache.get(char);
  if (known !== undefined) return known;
  const folded = foldAnew(char);
  // A text of every character there is must not grow the process for good.
  if (cache.size >= CACHE_MAX) cache.clear();
  cache.set(char, folded);
  return folded;
}

function foldAnew(char: string): string {
  const point = char.codePointAt(0) ?? 0;
  if (point >= TAG_MIN && point <= TAG_MAX) return String.fromCharCode(point - TAG_BASE);
  if (UNSEEN.test(char)) return '';
  if (SPACE.test(char)) return ' ';
  const letter = letterAt(point);
  if (letter !== undefined) return letter;
  const bare = char.normalize('NFKD').replace(MARKS, '');
  const read = Array.from(bare, (part) => lookAlike(part) ?? digitOf(part) ?? part).join('');
  return ASCII.test(read) ? read : char.normalize('NFKC');
}

/** Letters that Unicode knows as signs: on flags, and white on black. */
function letterAt(point: number): string | undefined {
  const first = SIGN_LETTERS.find((start) => point >= start && point < start + LETTERS);
  return first === undefined ? undefined : String.fromCharCode(0x41 + point - first);
}

/** The value of a decimal digit of any script: they come in runs of ten. */
function digitOf(char: string): string | undefined {
  if (!DIGIT.test(char)) return undefined;
  const point = char.codePointAt(0) ?? 0;
  let value = 0;
  while (value < DIGIT_RUN_MAX && DIGIT.test(String.fromCodePoint(point - value - 1))) value++;
  return String(value % 10);
}

// Letters of other scripts that look like Latin ones, as pairs of rows: what is seen, what it is
// read as. What NFKC and dropped accents already bring to ASCII is not listed.

const ROWS: readonly (readonly [seen: string, read: string])[] = [
  // Cyrillic
  ['абвгеёзийкмнопрстухьѕіїјӏһԁԛԝґєҽүқңҳҝ', 'a6bree3nnkmhonpctyxbsiijlhdqwreeykhxk'],
  ['АВЕЁЗКМНОРСТУХЅІЇЈӀҺԀԚԜҮЬ', 'ABEE3KMHOPCTYXSIIJIHDQWYb'],
  // Greek
  ['αγεζηικμνορτυχωϲϳ', 'ayeznikuvoptuxwcj'],
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ', 'ABEZHIKMNOPTYXCJ'],
  // Armenian, Cherokee, Lisu and others
  ['աոօսցհյւքզԍգ', 'wnoughjlpqGq'],
  ['ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎵᎷᎻᎽᏀᏂᏃᏎᏒᏔᏙᏚᏞᏟᏢᏦᏩᏮᏴ', 'DRTiYAJEWPMHYGhZ4RWVSLCPKGbB'],
  ['ᎣᎤᎦᎧᎮᎰᎱᎲᎶᎾᎿᏁᏆᏇᏋᏌᏍᏏᏓᏕᏗᏛᏜᏧᏨᏫᏬᏯᏰᏲᏳ', 'OOFOhFrXGOtNTwEUObtSJVUdCOUwBhG'],
  // Canadian syllabics, Coptic
  ['ᗩᗷᑕᗪᖴᕼᒍᒪᗰᑎᑭᑫᖇᑌᐯᗯ᙭ᘔᐃᐱᗅᗞᗴᗝᔕᖶ', 'ABCDFHJLMNPqRUVWXZAAADEOST'],
  ['ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲆⲄⲪⲰ', 'ABEHIKMNOPCTYXDGfw'],
  ['ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓞꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPdDTGKJCZFFNLSRVHWXYAEIOU'],
  // Latin letters without a decomposition, and small capitals
  ['ıȷøđħłŧɑɡɩɪʀʟɴʏʙɢʜᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱꜰɛɔʋɾßæœ', 'ijodhltagiirlnybghacdejkmoptuvwzsfeovrbao'],
  ['ØĐĦŁŦƁƇƊƑƓƘƝƤƬƳƵ', 'ODHLTBCDFGKNPTYZ'],
  // Signs
  ['‐‑‒–—―−⁃˗', '---------'],
  ['‘’‛′ʼ“”‟″', "'''''\"\"\"\""],
  ['⟨⟩‹›〈〉', '<><><>'],
  ['∕⁄∶ː։‚', '//:::,'],
];

function tableOf(rows: typeof ROWS): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (const [seen, read] of rows) {
    const targets = Array.from(read);
    for (const [index, char] of Array.from(seen).entries()) {
      const target = targets[index];
      if (target !== undefined) table.set(char, target);
    }
  }
  return table;
}

let table: ReadonlyMap<string, string> | undefined;

/** Cherokee and Coptic: their small letters are small capitals. */
const SMALL_CAPITAL = /^[\u13f8-\u13fd\uab70-\uabbf\u2c80-\u2cff]$/;

/** What a character is read as; undefined when it looks like nothing in ASCII. */
export function lookAlike(char: string): string | undefined {
  // Built when the first one is asked for: a start-up should not wait for it.
  table ??= tableOf(ROWS);
  return table.get(SMALL_CAPITAL.test(char) ? char.toUpperCase() : char);
}

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

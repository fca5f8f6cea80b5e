// A name as it looks: letters of other alphabets, digits and pairs that pass for Latin letters are
// replaced by what they look like, and what cannot be seen is left out.

const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  [
    'aаαɑạ',
    'bЬƄв',
    'cсϲⅽᴄ',
    'dԁⅾɗ',
    'eеєɛε℮',
    'gɡցԍ',
    'hһհн',
    'iіιɩıӏǀ|!1lⅼ',
    'jјϳ',
    'kкκ',
    'mмⅿ',
    'nոռηп',
    'oоοօ0ỏσ',
    'pрρϱ',
    'qԛգ',
    'rгᴦ',
    'sѕꜱ5$',
    'tтτ',
    'uυսᴜ',
    'vνѵⅴ',
    'wԝωшɯ',
    'xхχⅹ',
    'yуүγ',
    'zᴢʐ',
  ].flatMap((group) => {
    const [latin = '', ...others] = Array.from(group);
    return others.map((other) => [other, latin] as const);
  }),
);

const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\p{M}]/gu;

/** Two names that look the same have the same skeleton; case and separators count for nothing. */
function skeletonOf(name: string): string {
  const plain = variantOf(name);
  const replaced = Array.from(plain, (char) => LOOKS_LIKE.get(char) ?? char).join('');
  return replaced.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('ci', 'd');
}

/** The name without case, separators and what cannot be seen: `Read_File` is `readFile`. */
function variantOf(name: string): string {
  const seen = name.slice(0, 1_024).normalize('NFKD').replace(UNSEEN, '').toLowerCase();
  return seen.normalize('NFKC').replace(/[\s\-_.:/]+/g, '');
}

export { skeletonOf, variantOf };

// A name as it looks: letters of other alphabets, digits and pairs that pass for Latin letters are
// replaced by what they look like, and what cannot be seen is left out.
import { lookAlike } from '../../scan/text/look-alikes.ts';

const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  `aаαɑạ bЬƄв cсϲⅽᴄ dԁⅾɗ eеєɛε℮ gɡցԍ hһհн iіιɩıӏǀ|!1lⅼ jјϳ kкκ mмⅿ nոռηп oоοօ0ỏσ pрρϱ qԛգ rгᴦ
   sѕꜱ5$ tтτ uυսᴜ vνѵⅴ wԝωшɯ xхχⅹ yуүγ zᴢʐ`
    .split(/\s+/)
    .flatMap((group) => {
      const [latin = '', ...others] = Array.from(group);
      return others.map((other) => [other, latin] as const);
    }),
);

const LENGTH_MAX = 1_024;
/** All of it is seen, and has one form. */
const PLAIN = /^[\x20-\x7e]*$/;
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{C}\p{M}]/gu;

/** Two names that look the same have the same skeleton; case and separators count for nothing. */
export function skeletonOf(name: string): string {
  const plain = latinOf(name);
  const replaced = Array.from(plain, (char) => LOOKS_LIKE.get(char) ?? char).join('');
  return replaced.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('ci', 'd');
}

/** The same as `variantOf`, with letters of other alphabets as the Latin ones that they look like. */
export function latinOf(name: string): string {
  // A capital may look like another letter than its small form: `Β` is no `ß`, and `Ν` no `v`.
  const read = Array.from(seenOf(name), (char) => lookAlike(char) ?? char).join('');
  return variantOf(read);
}

/** The name without case, separators and what cannot be seen: `Read_File` is `readFile`. */
export function variantOf(name: string): string {
  const seen = seenOf(name).toLowerCase();
  return seen.normalize('NFKC').replace(/[\s\-_.:/]+/g, '');
}

/** What cannot be seen goes first: it must neither fill the room nor be sorted at length. */
function seenOf(name: string): string {
  if (PLAIN.test(name)) return name.slice(0, LENGTH_MAX);
  const short = name.replace(UNSEEN, '').slice(0, LENGTH_MAX);
  return short.normalize('NFKD').replace(UNSEEN, '');
}

// One form for characters that are the same, in time that grows with the text and not with its square.

const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Marks on one letter are sorted, which takes time by the square; no word has more than a few. */
const MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Compatible forms become one: `ｂｃｃ` is `bcc`. Of a long run of marks, the first are kept. */
export function compatible(text: string): string {
  return ASCII_ONLY.test(text) ? text : text.replace(MARKS, '$1').normalize('NFKC');
}

// One form for characters that are the same, in time that grows with the text and not with its square.

const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Marks on one letter are sorted, which takes time by the square; no word has more than a few. */
const MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/** Compatible forms become one: `ｂｃｃ` is `bcc`. Of a long run of marks, the first are kept. */
export function compatible(text: string): string {
  return ASCII_ONLY.test(text) ? text : text.replace(MARKS, '$1').normalize('NFKC');
}

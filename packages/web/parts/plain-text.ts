// Everything that comes from an agent, a server or a model is hostile text. The browser escapes markup; what is left
// are characters that cannot be seen, or that turn the order of others around.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;

/** The text with all that cannot be seen shown: control characters as their pictures, the rest as `\u{…}`. */
export function plainText(text: string): string {
  return text.replaceAll(UNSEEN, (unit) => {
    const code = unit.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
    if (code === DELETE) return '\u2421';
    return `\\u{${code.toString(16)}}`;
  });
}

/** On one line: the breaks are shown, too. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll('\n', '␊').replaceAll('\t', ' ');
}

/** Folds a long text in the middle: both ends of a path or an id tell more than its beginning. */
export function foldedLine(text: string, lengthMax: number): string {
  const line = plainLine(text.length > lengthMax * 4 ? cutMiddle(text, lengthMax * 4) : text);
  return line.length <= lengthMax ? line : cutMiddle(line, lengthMax);
}

function cutMiddle(text: string, lengthMax: number): string {
  const tail = Math.floor((lengthMax - 1) / 2);
  return `${text.slice(0, lengthMax - 1 - tail)}…${text.slice(text.length - tail)}`;
}

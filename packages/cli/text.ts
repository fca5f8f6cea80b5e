// Text on its way to a terminal. File names, rule ids and arguments come from others, so nothing in
// them may move the cursor, change colours or reorder what is read.

// Controls, invisible and direction-changing characters, halves of pairs, line separators.
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** One line of text in which everything that acts on a terminal is spelled out. */
function harmless(text: string): string {
  return text.replace(HARMFUL, escapeOf);
}

/** JSON for programs; what acts on a terminal is escaped there as well. */
function jsonText(value: unknown): string {
  const indented = JSON.stringify(value, null, 2);
  return `${indented.replace(HARMFUL, (char) => (char === '\n' ? char : escapeOf(char)))}\n`;
}

function escapeOf(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** At most this many characters, with an ellipsis where something was cut. */
function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, Math.max(0, lengthMax - 1))}…`;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;

/** How many cells of a terminal a harmless text takes. */
function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) {
    if (/\p{M}/u.test(char)) continue;
    width += WIDE.test(char) ? 2 : 1;
  }
  return width;
}

const COLOR_CODES = /\u001b\[[0-9;]*m/g;

/** Breaks at spaces, so that no line is wider than that; a single long word stays whole. */
function wrapped(text: string, widthMax: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(longer.replace(COLOR_CODES, '')) > widthMax) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

export { displayWidth, harmless, jsonText, plural, shortened, wrapped };

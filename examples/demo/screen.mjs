// What the demo prints: coloured on a terminal, plain in a pipe.

const CODES = { bold: [1, 22], dim: [2, 22], green: [32, 39], yellow: [33, 39], red: [31, 39] };
/** Where a terminal does not say how wide it is. */
const COLUMNS = 80;
const ESC = '\u001b';
const COLOR = new RegExp(`${ESC}\\[[0-9;]*m`, 'g');

function createScreen(stream, env) {
  const isTerminal = stream.isTTY === true;
  const hasColor = wantsColor(isTerminal, env);
  const paint = (name, text) => {
    const [on, off] = CODES[name];
    return hasColor ? `${ESC}[${on}m${text}${ESC}[${off}m` : text;
  };
  const columns = () => stream.columns || COLUMNS;
  return {
    isTerminal,
    columns,
    hasColor,
    paint,
    say: (text = '') => stream.write(`${text}\n`),
    /** A line of another program, cut where the terminal would wrap it. */
    pass: (line) => stream.write(`${isTerminal ? cut(line, columns()) : line}\n`),
  };
}

function wantsColor(isTerminal, { NO_COLOR = '', FORCE_COLOR = '', TERM }) {
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && TERM !== 'dumb';
}

function withoutColor(line) {
  return line.replaceAll(COLOR, '');
}

/** So many characters of a line, colours not counted. */
function cut(line, cells) {
  if (withoutColor(line).length <= cells) return line;
  let out = '';
  let left = cells - 1;
  for (const part of line.split(new RegExp(`(${COLOR.source})`))) {
    if (part.startsWith(ESC)) out += part;
    else {
      out += part.slice(0, left);
      left -= Math.min(left, part.length);
    }
  }
  return `${out}…`;
}

export { createScreen, withoutColor };

// Text from a bundle, made harmless for a message: it may be long, and it may try to move a cursor.

const LENGTH_MAX = 60;

/** Characters that a reader does not see but a terminal or an editor obeys. */
function isHidden(unit: number): boolean {
  const control = unit < 0x20 || (unit >= 0x7f && unit <= 0x9f);
  const direction = unit === 0x061c || unit === 0x200e || unit === 0x200f;
  const override = (unit >= 0x2028 && unit <= 0x202e) || (unit >= 0x2066 && unit <= 0x2069);
  const empty = unit === 0x200b || unit === 0x2060 || unit === 0xfeff;
  return control || direction || override || empty || (unit >= 0xd800 && unit <= 0xdfff);
}

/** The text with every hidden character spelled out, and cut when it is long. */
function harmless(text: string, lengthMax = LENGTH_MAX): string {
  let shown = '';
  for (const char of text) {
    if (shown.length >= lengthMax) return `${shown}…`;
    const unit = char.charCodeAt(0);
    const hidden = char.length === 1 && isHidden(unit);
    shown += hidden ? `\\u${unit.toString(16).padStart(4, '0')}` : char;
  }
  return shown;
}

function quote(text: string): string {
  return `\`${harmless(text)}\``;
}

export { harmless, quote };

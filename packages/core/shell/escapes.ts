// Undoes the escapes inside of `$'…'`.

const NAMED: ReadonlyMap<string, string> = new Map(
  Array.from('abeEfnrtv', (letter, index) => [letter, '\x07\b\x1b\x1b\f\n\r\t\v'.charAt(index)]),
);

const ESCAPE =
  /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

export function withoutEscapes(text: string): string {
  return text.replace(
    ESCAPE,
    // oxlint-disable-next-line max-params
    (whole, hex?: string, short?: string, long?: string, octal?: string, control?: string) => {
      const digits = hex ?? short ?? long;
      if (digits !== undefined) return character(Number.parseInt(digits, 16), whole);
      if (octal !== undefined) return character(Number.parseInt(octal, 8) % 256, whole);
      if (control !== undefined) return character(control.toUpperCase().charCodeAt(0) & 0x1f, '');
      const letter = whole.slice(1);
      return NAMED.get(letter) ?? (/["'?\\]/.test(letter) ? letter : whole);
    },
  );
}

/** The character with this number; something else where there is none. */
export function character(point: number, otherwise: string): string {
  const isCharacter = point > 0 && point <= 0x10_ff_ff && !(point >= 0xd800 && point <= 0xdfff);
  return isCharacter ? String.fromCodePoint(point) : otherwise;
}

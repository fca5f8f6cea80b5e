// Four bytes of a string at a time: most of a message of text is plain.

/**
 * Whether four bytes all stand in a canonical string as they are: none is a quote, a backslash or
 * below a space. Subtracting sets the highest bit of a byte that was too small; where it was set
 * before, the byte is beyond ASCII and plain.
 */
function arePlain(four: number): boolean {
  // Spelled out here: a constant of the file would be loaded anew for each four.
  const quote = four ^ 0x22222222;
  const slash = four ^ 0x5c5c5c5c;
  const small = ((four - 0x20202020) | 0) & ~four;
  const hasQuote = ((quote - 0x01010101) | 0) & ~quote;
  const hasSlash = ((slash - 0x01010101) | 0) & ~slash;
  return ((hasQuote | hasSlash | small) & 0x80808080) === 0;
}

/** The same, and none is beyond ASCII. */
function arePlainAscii(four: number): boolean {
  return (four & 0x80808080) === 0 && arePlain(four);
}

export { arePlain, arePlainAscii };

/** The length of a JSON string from behind its first quote, as it is written. */
export function stringLength(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) break;
    at += unit === 0x5c ? 2 : 1;
  }
  return at - start;
}

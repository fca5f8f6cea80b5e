// Text from a bundle, made harmless for a message: it may be long, and it may try to move a cursor.
import { visible } from '../visible.ts';

const LENGTH_MAX = 60;

export function quote(text: string): string {
  return `\`${visible(text, LENGTH_MAX)}\``;
}

/** The same without the quotes, for text that stands inside of others. */
export function shown(text: string, lengthMax = LENGTH_MAX): string {
  return visible(text, lengthMax);
}

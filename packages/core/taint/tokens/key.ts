/** What of a text is worth remembering. `command_part` is the beginning of a command line. */
export type TokenKind =
  | 'email'
  | 'url'
  | 'host'
  | 'path'
  | 'command'
  | 'command_part'
  | 'identifier'
  | 'number'
  | 'handle';

const KEY_LENGTH_MAX = 256;

/** What a value is remembered under. Both sides are cut at the same place. */
export function keyOf(kind: TokenKind, value: string): string {
  return `${kind}:${value.toLowerCase().slice(0, KEY_LENGTH_MAX)}`;
}

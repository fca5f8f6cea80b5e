/** What stands on every event must not be endless. */
const TEXT_LENGTH_MAX = 1_024;

/** A text that may stand on every line; nothing for an empty one. */
export function shortText(value: string | undefined): string | undefined {
  return value ? value.slice(0, TEXT_LENGTH_MAX) : undefined;
}

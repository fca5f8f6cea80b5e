// Text in YAML that we write: hostile names must stay what they are, and be seen.
import { HIDDEN } from './visible.ts';

const ALL_HIDDEN = new RegExp(HIDDEN, 'gu');

/** A text in double quotes, as YAML and CEL read it alike; what cannot be seen is escaped. */
export function yamlQuoted(text: string): string {
  return JSON.stringify(text).replace(ALL_HIDDEN, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return char.length > 1 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

// Where in a JSON value something stands, in words that can't carry anything themselves: a key is
// named only when it is a plain word, else by its number, since a key may be a secret too.

export interface Step {
  readonly parent: Step | undefined;
  /** A key that may be shown; else the place among its siblings. */
  readonly key: string | undefined;
  readonly index: number;
  readonly of: 'object' | 'array';
}

const PLAIN_KEY = /^(?=.{1,32}$)[A-Za-z_$][A-Za-z_$-]*(?:\d{1,3}[A-Za-z_$-]*){0,2}$/;
const ROOT = '$';
/** What is said about the key itself, not about its value. */
export const OF_KEY = '~';

/** The step to a member of an object. */
export function memberStep(parent: Step | undefined, key: string, index: number): Step {
  return { parent, key: PLAIN_KEY.test(key) ? key : undefined, index, of: 'object' };
}

export function itemStep(parent: Step | undefined, index: number): Step {
  return { parent, key: undefined, index, of: 'array' };
}

export function pathOf(step: Step | undefined): string {
  const parts: string[] = [];
  for (let at = step; at !== undefined; at = at.parent) {
    if (at.of === 'array') parts.push(`[${at.index}]`);
    else parts.push(at.key === undefined ? `{${at.index}}` : `.${at.key}`);
  }
  return ROOT + parts.toReversed().join('');
}

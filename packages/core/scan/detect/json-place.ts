// Where in a JSON value something stands, in words that can't carry anything themselves: a key is named only
// when it is a plain word, else by its number, since a key may be a secret too.

const PLAIN_KEY = /^(?=.{1,32}$)[A-Za-z_$][A-Za-z_$-]*(?:\d{1,3}[A-Za-z_$-]*){0,2}$/;
export const ROOT_PATH = '$';
/** Behind the path of a member: the place is its key, not its value. */
export const OF_KEY = '~';

export function memberPath(parent: string, key: string, index: number): string {
  return parent + (PLAIN_KEY.test(key) ? `.${key}` : `{${index}}`);
}

export function itemPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

interface Step {
  readonly parent: JsonPlace;
  readonly index: number;
  /** Undefined for an item of a list. */
  readonly key: string | undefined;
}

/** The place of a value. Its path is written only when something is found there. */
export class JsonPlace {
  readonly depth: number;
  /** The name of the field that holds the value. */
  readonly field: string | undefined;
  readonly #step: Step | undefined;

  /** Without a step, the root. */
  constructor(step?: Step) {
    this.#step = step;
    this.depth = step === undefined ? 0 : step.parent.depth + 1;
    this.field = step?.key ?? step?.parent.field;
  }

  get path(): string {
    if (this.#step === undefined) return ROOT_PATH;
    const { parent, index, key } = this.#step;
    return key === undefined ? itemPath(parent.path, index) : memberPath(parent.path, key, index);
  }
}

/** A string, or a number as text; or a key, which is in no field. */
export class JsonLeaf {
  readonly text: string;
  readonly isKey: boolean;
  /** It may hold an order in rot13. */
  mayBeTurned = true;
  readonly #place: JsonPlace;

  constructor(text: string, place: JsonPlace, isKey = false) {
    this.text = text;
    this.isKey = isKey;
    this.#place = place;
  }

  get field(): string | undefined {
    return this.isKey ? undefined : this.#place.field;
  }

  get path(): string {
    return this.isKey ? this.#place.path + OF_KEY : this.#place.path;
  }
}

// Takes the members of an object one by one, and keeps what nobody took: nothing that a client or a provider wrote
// is lost on its own wire, whether the form has a word for it or not.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import type { Rest, WireName } from './form.ts';
import { isJsonList } from './read-members.ts';

export class MemberReader {
  readonly #left: Map<string, JsonValue>;
  readonly #inner = new Map<string, MemberReader>();

  constructor(object: JsonObject) {
    this.#left = new Map(Object.entries(object));
  }

  string(name: string): string | undefined {
    return this.take(name, (value) => typeof value === 'string');
  }

  number(name: string): number | undefined {
    return this.take(name, (value) => typeof value === 'number');
  }

  /** A count of tokens that is not zero. */
  count(name: string): number | undefined {
    const isCount = (value: JsonValue): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
    return this.take(name, isCount);
  }

  list(name: string): readonly JsonValue[] | undefined {
    return this.take(name, isJsonList);
  }

  object(name: string): JsonObject | undefined {
    return this.take(name, isJsonObject);
  }

  /** Whether a member has this very value. */
  is(name: string, wanted: JsonValue): boolean {
    return this.take(name, (value): value is typeof value => value === wanted) !== undefined;
  }

  /** What a word stands for; a word that is not in the table is left. */
  word<T>(name: string, words: ReadonlyMap<string, T>): T | undefined {
    const word = this.take(
      name,
      (value): value is string => typeof value === 'string' && words.has(value),
    );
    return word === undefined ? undefined : words.get(word);
  }

  /** The members of a member; what is left of them is left under its name. */
  inner(name: string): MemberReader {
    const known = this.#inner.get(name);
    if (known !== undefined) return known;
    const value = this.#left.get(name);
    // An empty object would be lost.
    if (!isJsonObject(value) || Object.keys(value).length === 0) return new MemberReader({});
    this.#left.delete(name);
    const reader = new MemberReader(value);
    this.#inner.set(name, reader);
    return reader;
  }

  take<T extends JsonValue>(
    name: string,
    isWanted: (value: JsonValue) => value is T,
  ): T | undefined {
    const value = this.#left.get(name);
    if (value === undefined || !isWanted(value)) return undefined;
    this.#left.delete(name);
    return value;
  }

  get left(): JsonObject {
    const members = new Map(this.#left);
    for (const [name, { left }] of this.#inner) {
      if (Object.keys(left).length > 0) members.set(name, left);
    }
    return Object.fromEntries(members);
  }

  rest(wire: WireName): Rest | undefined {
    const members = this.left;
    return Object.keys(members).length === 0 ? undefined : { wire, members };
  }
}

/** Members as the form has them, with what was left when they were read; members of members are joined. */
export function withRest(members: JsonObject, rest: JsonObject): JsonObject {
  const joined: { [name: string]: JsonValue } = { ...rest };
  for (const [name, value] of Object.entries(members)) {
    const left = Object.hasOwn(rest, name) ? rest[name] : undefined;
    joined[name] = isJsonObject(value) && isJsonObject(left) ? withRest(value, left) : value;
  }
  return joined;
}

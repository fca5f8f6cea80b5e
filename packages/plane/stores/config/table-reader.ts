// Reads one table of config.toml, and collects what is wrong with it.
import { type ConfigFailure, configFailure, shown } from './config-failure.ts';
import { isTable, suggestion, type TomlTable } from './values.ts';

export type KeyPath = readonly string[];

/** A mistake at a key of the file. */
export interface ConfigFault {
  readonly path: KeyPath;
  readonly code: 'SUB_CONFIG_KEY' | 'SUB_CONFIG_VALUE';
  readonly message: string;
  readonly fix: string;
  /** A word that may be misspelt, and the words there are. */
  readonly word?: string;
  readonly known?: readonly string[];
}

/** The faults with their places in the file. */
export function configFailures(
  faults: readonly ConfigFault[],
  where: (path: KeyPath) => string,
): Promise<readonly ConfigFailure[]> {
  return Promise.all(
    faults.map(async ({ path, code, message, word = '', known = [], fix }) => {
      const words = { message, fix: await suggestion(word, known, fix) };
      return configFailure(code, where(path), words);
    }),
  );
}

interface ValueType<V> {
  readonly words: string;
  readonly read: (value: unknown) => V | undefined;
}

export class TableReader {
  readonly path: KeyPath;
  readonly #values: TomlTable;
  readonly #faults: ConfigFault[];
  readonly #known = new Set<string>();

  constructor(values: TomlTable, path: KeyPath, faults: ConfigFault[]) {
    this.path = path;
    this.#values = values;
    this.#faults = faults;
  }

  /** The value of a key, which is then a known one; undefined when it is missing. */
  take(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  /** The value, or the fallback when the key is missing; a value that does not fit is a fault. */
  optional<V, F>(key: string, type: ValueType<V>, fallback: F): V | F {
    return this.take(key) === undefined ? fallback : this.required(key, type, fallback);
  }

  /** The value; `instead` of one that is missing or does not fit, which is a fault. */
  required<V, I>(key: string, type: ValueType<V>, instead: I): V | I {
    const value = type.read(this.take(key));
    if (value !== undefined) return value;
    // What stands there is not shown: it may be a secret in the wrong place.
    const name = [...this.path, key].join('.');
    this.fault(key, `\`${name}\` is not ${type.words}`, `Write ${type.words}.`);
    return instead;
  }

  table(key: string): TableReader | undefined {
    const values = this.optional(key, TABLE, undefined);
    return values && new TableReader(values, [...this.path, key], this.#faults);
  }

  fault(key: string, message: string, fix: string): undefined {
    this.#faults.push({ path: [...this.path, key], code: 'SUB_CONFIG_VALUE', message, fix });
  }

  /** Reports each key that nothing has taken. */
  done(): void {
    const known = [...this.#known];
    const fix = `Known here: ${known.map((one) => `\`${one}\``).join(', ')}.`;
    for (const key of Object.keys(this.#values).filter((one) => !this.#known.has(one))) {
      const words = { message: `unknown key \`${shown(key)}\``, fix, word: key, known };
      this.#faults.push({ path: [...this.path, key], code: 'SUB_CONFIG_KEY', ...words });
    }
  }
}

const TABLE = { words: 'a table', read: (value: unknown) => (isTable(value) ? value : undefined) };

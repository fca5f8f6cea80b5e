// One case of a corpus: what is scanned, and as what.

export interface Case {
  readonly id: string;
  /** `text`: plain text of a result. `json`: arguments or a whole result. `definition`: a tool. */
  readonly as: 'text' | 'json' | 'definition';
  readonly value: unknown;
}

/** Attacks that must be found, and their benign twins, in which nothing may be. */
export interface Corpus {
  readonly name: string;
  readonly attacks: readonly Case[];
  readonly benign: readonly Case[];
}

export const texts = (prefix: string, all: readonly string[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'text', value }));

export const values = (prefix: string, all: readonly unknown[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'json', value }));

export const definitions = (prefix: string, all: readonly unknown[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'definition', value }));

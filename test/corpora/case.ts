// One case of a corpus: what is scanned, and as what.

interface Case {
  readonly id: string;
  /** `text`: plain text of a result. `json`: arguments or a whole result. `definition`: a tool. */
  readonly as: 'text' | 'json' | 'definition';
  readonly value: unknown;
}

/** Attacks that must be found, and their benign twins, in which nothing may be. */
interface Corpus {
  readonly name: string;
  readonly attacks: readonly Case[];
  readonly benign: readonly Case[];
}

const texts = (prefix: string, all: readonly string[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'text', value }));

const values = (prefix: string, all: readonly unknown[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'json', value }));

const definitions = (prefix: string, all: readonly unknown[]): Case[] =>
  all.map((value, index) => ({ id: `${prefix}-${index + 1}`, as: 'definition', value }));

export type { Case, Corpus };
export { definitions, texts, values };

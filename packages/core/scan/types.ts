/** A part of a text; `end` is behind its last unit. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** The range that a rule has found, and how far it has read. */
export interface Match extends Range {
  /** The rule need not be tried again before this place. */
  readonly readTo: number;
  /** What to put around the marker so that a bare JSON number becomes a JSON string. */
  readonly quote?: string;
}

/** A text to look through. */
export interface Scanned {
  readonly text: string;
  /** The text was cut, so a secret may end too early. */
  readonly truncated: boolean;
}

export interface KeywordPlace extends Scanned {
  /** Where the keyword begins. */
  readonly at: number;
}

export interface Rule {
  readonly name: string;
  /** The rule is tried only where one of these stands. */
  readonly keywords: readonly string[];
  /** The keywords count in upper and lower case. */
  readonly anyCase: boolean;
  /** A keyword inside of a word counts only right behind an escape. */
  readonly edge?: boolean;
  /** What is found may begin before the keyword. */
  readonly looksBack?: boolean;
  readonly match: (place: KeywordPlace) => Match | undefined;
  /** Where to try again after a miss, for rules whose misses are expensive. */
  readonly missedTo?: (place: KeywordPlace) => number;
}

/** A user's own pattern, already compiled. */
export interface ExtraPattern {
  readonly name: string;
  readonly find: (text: string) => Iterable<Range>;
}

/** A secret that was injected; the name is its reference and may be shown. */
export interface SecretValue {
  readonly name: string;
  readonly value: string;
}

// The pieces that a word is written in.

/** Stands in a text for a part that only the running shell knows, such as `$(date)`. */
export const UNKNOWN = '\0';

/** Where a value without quotes holds blanks, a shell makes several words of it. */
export const SPLIT = '\uffff';

export type Unit =
  /** As it stands; a sign that may be a part of `{a,b}` stands alone. */
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'quoted'; readonly text: string }
  /** A variable or a substitution, with every value that it may have. */
  | { readonly kind: 'value'; readonly texts: readonly string[]; readonly isQuoted: boolean };

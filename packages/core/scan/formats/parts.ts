// What several formats are put together from, in the syntax of regular expressions.

const raw = String.raw;
export const ALNUM = '[A-Za-z0-9]';
export const WORD = raw`[\w-]`;
/** JSON writers may escape the slash. */
export const SLASH = raw`\\{0,7}/`;
/** Where a token may begin: not inside a word, but right behind an escape. */
export const EDGE = raw`(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))`;
/** Between a key and its value: quotes at any depth of JSON in JSON, and the sign. */
export const BECOMES = raw`\\{0,7}["']?\s{0,4}[:=]\s{0,4}\\{0,7}["']?`;
// Two dashes end the body, so that a run of opening lines is read once.
const PEM_BODY = raw`(?:[A-Za-z0-9+/=\s:,.()]|\\+(?=[nrtu])|-(?!-)){0,32768}`;
export const PEM = raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----${PEM_BODY}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`;

// Whether a tool only reads, by the words of its name. A tool that can't be told changes something.

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const READS = wordSet(
  `browse check count describe download fetch find get head inspect list look lookup open peek query
  read retrieve search select show stat tail tree view`,
);
const CHANGES = wordSet(
  `accept add allow append apply approve archive assign buy cancel change clear close create delete
  deploy disable drop edit enable exec execute forward grant insert install invite kill make merge
  move notify patch pay publish purchase push put register remove rename replace reply reserve reset
  restart revoke send set share start stop submit sync transfer trigger update upload upsert withdraw
  write`,
);
/** Verbs that are also things: `mail_report` changes something, `search_mail` does not. */
const CHANGES_IN_FRONT = wordSet(
  'book call comment commit copy email import mail mark message order post release request run schedule sign store',
);

const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

export function isReading(tool: string): boolean {
  const words = (tool.match(WORD) ?? []).map((word) => word.toLowerCase());
  const first = words.findIndex((word) => READS.has(word));
  if (first === -1 || words.some((word) => CHANGES.has(word))) return false;
  return !words.slice(0, first).some((word) => CHANGES_IN_FRONT.has(word));
}

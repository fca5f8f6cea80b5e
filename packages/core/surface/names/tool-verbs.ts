// What a tool does, guessed by the words of its name. The server has chosen it, so it proves nothing.

export type Guess = 'read' | 'write' | 'destroy' | 'unknown';

const READ = new Set(
  `check contains count describe diff exists explain fetch filter find get glob grep head help info
  inspect is list lookup ls peek ping preview query read recall retrieve search select show stat
  stats status summarize tail tree validate verify version view watch whoami`.split(/\s+/),
);
const DESTROY = new Set(
  `ban clear delete deny destroy disable drop erase expunge flush force format kill nuke overwrite
  prune purge rebase remove reset revoke rm rmdir shred shutdown terminate trash truncate
  uninstall unlink unpublish wipe`.split(/\s+/),
);
const WRITE = new Set(
  `accept add append apply approve archive assign batch book buy call cancel change charge close
  commit complete connect copy create deploy download draft edit enable eval exec execute export
  forward grant import insert install invite invoke launch make mark merge modify mount move open
  order patch pay play post publish purchase push put rename replace reply restart restore run
  save schedule send set share shell start stop submit subscribe sudo sync tag transfer trigger
  update upload upsert write`.split(/\s+/),
);

/** The words of a name: `gmail.modifyLabels_v2` has five. */
function wordsOf(name: string): readonly string[] {
  const spaced = name
    .slice(0, 256)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return spaced
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** The strongest thing that any word of the name says. */
export function guessOf(name: string): Guess {
  const words = wordsOf(name);
  if (words.some((word) => DESTROY.has(word))) return 'destroy';
  if (words.some((word) => WRITE.has(word))) return 'write';
  // Letters of other alphabets may look like a harmless word.
  if (/[^ -~]/.test(name)) return 'unknown';
  return words.some((word) => READ.has(word)) ? 'read' : 'unknown';
}

/** Whether the name begins with a verb of reading and has no other: `get_and_send` does more. */
export function isReading(name: string): boolean {
  const words = wordsOf(name);
  return READ.has(words[0] ?? '') && !words.includes('and') && guessOf(name) === 'read';
}

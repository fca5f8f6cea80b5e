// The values of options on the command line of an agent.

/** `--flag value`, `--flag=value`, and `-fvalue` for a short one. */
export function flagValues(words: readonly string[], flags: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    if (flags.includes(word)) return words.slice(at + 1, at + 2);
    const flag = flags.find((one) => word.startsWith(one.startsWith('--') ? `${one}=` : one));
    return flag === undefined ? [] : [word.slice(flag.length).replace(/^=/, '')];
  });
}

/** All words behind the flag, up to the next one. */
export function flagLists(words: readonly string[], flag: string): readonly string[] {
  return words.flatMap((word, at) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    if (word !== flag) return [];
    const rest = words.slice(at + 1);
    const end = rest.findIndex((one) => one.startsWith('-'));
    return rest.slice(0, end === -1 ? rest.length : end);
  });
}

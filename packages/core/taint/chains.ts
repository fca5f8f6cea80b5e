// An argument at a sink → the keys under which it may have been read, most telling first.
import { addressesAbove, emailsIn, webAddressesIn } from './tokens/address.ts';
import { commandKey, commandsOf } from './tokens/command.ts';
import { commandNames } from './tokens/command-words.ts';
import { hostOf, hostsAbove, looksLikeHost } from './tokens/host.ts';
import { keyOf, numberKeysIn } from './tokens/number-keys.ts';
import {
  climbedTo,
  isRooted,
  looksLikePath,
  pathOf,
  pathsAbove,
  pathsBelow,
} from './tokens/path.ts';
import { folded } from './tokens/spellings.ts';
import { identifierKeys, wordsIn } from './tokens/tokens.ts';
import type { MatchKind, SinkKind } from './types.ts';

interface ChainLink {
  readonly key: string;
  readonly match: MatchKind;
}

export type SubjectKind = 'email' | 'host' | 'path' | 'command' | 'other';

/** One thing that a value names. The first of its keys that is known decides about it. */
export interface Chain {
  readonly subject: SubjectKind;
  /** As allowlists see it: an address, `host/path`, a path with its case, a command line. */
  readonly value: string;
  readonly links: readonly ChainLink[];
  /** It looks like a host and has nothing around it, as the name of a file does. */
  readonly isBare?: boolean;
}

const RECIPIENT_LENGTH_MAX = 256;

/** Everything that a value names at a sink of this kind. */
export function chainsOf(value: string, sink: SinkKind): readonly Chain[] {
  const words = wordsIn(value);
  const addresses = words.flatMap((word) => [...mailChains(word), ...webChains(word)]);
  if (sink === 'url')
    return [...addresses, ...words.filter((word) => /^file:/i.test(word)).flatMap(pathChain)];
  if (sink === 'recipient') return [...addresses, ...recipientChains(value, words)];
  if (sink === 'id') return thingChains(value);
  const paths = words.filter(looksLikePath).flatMap(embeddedPaths);
  if (sink === 'command') {
    return [
      ...addresses,
      ...paths,
      ...chainsOfCommands(commandsOf(value)),
      ...shellChains(value, words),
    ];
  }
  // A path given as such may have blanks in it, or be one bare name.
  return [...addresses, ...pathChain(value.trim()), ...paths];
}

function mailChains(word: string): readonly Chain[] {
  return emailsIn(word).map(({ address, host }) => ({
    subject: 'email',
    value: address,
    links: [{ key: keyOf('email', address), match: 'exact' }, ...hostLinks(host)],
  }));
}

function webChains(word: string): readonly Chain[] {
  if (emailsIn(word).length > 0 && !/[/\\]{2}/.test(word)) return [];
  const web = webAddressesIn(word);
  // What stands before the sign may be in quotes or brackets, where words end.
  const name = word.replace(/^@/, '');
  const bare = web.length === 0 && looksLikeHost(name) ? hostOf(name) : undefined;
  const all = bare === undefined ? web : [{ host: bare, address: bare }];
  const isBare = !/[/\\]/.test(word);
  return all.map(({ host, address }) => ({
    subject: 'host',
    value: address,
    isBare,
    links: [
      ...(address === host ? [] : [{ key: keyOf('url', address), match: 'exact' } as const]),
      ...addressesAbove(address).map((above) => {
        return { key: keyOf('url', above), match: 'prefix' } as const;
      }),
      ...hostLinks(host),
    ],
  }));
}

function hostLinks(host: string): readonly ChainLink[] {
  return [host, ...hostsAbove(host)].map((one) => ({ key: keyOf('host', one), match: 'host' }));
}

/** People and accounts by a name, a number or an id. */
function recipientChains(value: string, words: readonly string[]): readonly Chain[] {
  const chains: Chain[] = [];
  const add = (key: string) => {
    chains.push({ subject: 'other', value, links: [{ key, match: 'exact' }] });
  };
  for (const key of numberKeysIn(value, 'sent')) add(key);
  const names = value.length <= RECIPIENT_LENGTH_MAX ? [value.trim(), ...words] : words;
  for (const name of new Set(names)) {
    if (!name.includes('@', 1)) add(keyOf('handle', name.replace(/^[@#]/, '')));
    for (const key of identifierKeys(name)) add(key);
  }
  return chains;
}

/** The id of a thing: a file, an event, an issue. */
function thingChains(value: string): readonly Chain[] {
  const id = value.trim().replace(/^#/, '');
  const keys = [keyOf('thing', id), ...identifierKeys(id)];
  return keys.map((key) => ({ subject: 'other', value, links: [{ key, match: 'exact' }] }));
}

/** `--output=/etc/x` holds a path behind its sign. */
function embeddedPaths(word: string): readonly Chain[] {
  return [...new Set([word, word.slice(word.indexOf('=') + 1)])].flatMap(pathChain);
}

function pathChain(word: string): readonly Chain[] {
  const path = pathOf(word);
  if (path === undefined) return [];
  const climbed = climbedTo(path);
  const link = (one: string, match: MatchKind) => ({ key: keyOf('path', one), match });
  const links = [
    link(path, 'exact'),
    // What was read of a file says more than what was read of its folder.
    ...pathsBelow(path).map((below) => link(below, 'suffix')),
    ...(climbed === undefined ? [] : [link(climbed, 'suffix')]),
    ...[path, climbed ?? ''].flatMap(pathsAbove).map((above) => link(above, 'prefix')),
  ];
  return [{ subject: 'path', value: path, links }];
}

/** What a shell makes of a command, beyond what stands in it as it is. */
function shellChains(value: string, written: readonly string[]): readonly Chain[] {
  const { names, paths, commands } = commandNames(value);
  const known = new Set(written);
  const isNew = (name: string) => !known.has(name);
  const words = new Set([...names].flatMap((name) => [name, ...wordsIn(name)]).filter(isNew));
  return [
    ...[...words].flatMap((word) => [
      ...mailChains(word),
      ...webChains(word),
      ...(looksLikePath(word) ? pathChain(word) : []),
    ]),
    ...paths.flatMap(pathChain),
    ...chainsOfCommands(commands),
  ];
}

const COMMAND_WORDS_MAX = 12;

function chainsOfCommands(commands: readonly (readonly string[])[]): readonly Chain[] {
  return commands.map((given) => {
    const words = given.slice(0, COMMAND_WORDS_MAX).map((word) => word.toLowerCase());
    const whole = commandKey(words);
    const links: ChainLink[] = [
      { key: keyOf('command', whole), match: 'exact' },
      { key: keyOf('command_part', whole), match: 'exact' },
    ];
    for (let count = words.length - 1; count >= 2; count--) {
      const start = commandKey(words.slice(0, count));
      links.push({ key: keyOf('command', start), match: 'prefix' });
    }
    return { subject: 'command', value: words.join(' '), links };
  });
}

// What a value is a sink for by its look alone: the whole of it is an address or a path.

const LENGTH_MAX = 4_096;

export function shapesOf(value: string): ReadonlySet<SinkKind> {
  const shapes = new Set<SinkKind>();
  // How a value begins tells what it is.
  const text = folded(value.slice(0, LENGTH_MAX))
    // Parsers of addresses leave breaks out.
    .replace(/[\t\r\n]+/g, '')
    .trim();
  if (/\s/.test(text)) {
    // `Eve <eve@evil.example>`, and lists of such.
    if (/^[^<>]{0,200}<[^<>\s]{3,320}>[,;]?/.test(text) && emailsIn(text).length > 0) {
      shapes.add('recipient');
    }
    return shapes;
  }
  if (emailsIn(text).length > 0 && !text.includes('//')) shapes.add('recipient');
  if (/^[a-z][a-z0-9+.-]{1,20}:[/\\]{2}|^\/\/|^(?:h(?:tt|xx)ps?|wss?|ftp):|%2f%2f/i.test(text))
    shapes.add('url');
  else if (looksLikeHost(text) || /^[^/]{3,253}\//.test(text)) {
    const [host = ''] = text.split('/', 1);
    if (looksLikeHost(host) && text.includes('/')) shapes.add('url');
  }
  if (isRooted(text)) shapes.add('path');
  return shapes;
}

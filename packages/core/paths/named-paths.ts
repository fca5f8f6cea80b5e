// The texts in a JSON value that may name a file: whole texts, and the words of commands.
import { isObject } from '@subluminal/contracts';
import { readShell, withoutEscapes } from '../shell/index.ts';
import { decoded, isDecodedInPart, normalized, withoutUriBreaks } from './name-variants.ts';

export interface NamedPaths {
  readonly names: readonly string[];
  /** False when there was more than the limits allow. */
  readonly isWhole: boolean;
}

const DEPTH_MAX = 512;
const NODES_MAX = 200_000;
/** How much reading all texts of a call as commands may cost, beyond their length. */
const COST_MAX = 4_194_304;
const NAMES_MAX = 16_384;
/** Longer than any path that a system opens. */
const PATH_LENGTH_MAX = 4_096;
/** Folders of a name in a patch that may be left out. */
const FOLDERS_MAX = 32;

/** Keys of prose, which no program opens or runs; compared without case, `_` and `-`. */
const PROSE: ReadonlySet<string> = new Set(
  `content contents filetext filecontent filecontents newstr oldstr newtext oldtext newstring oldstring newsource
   inserttext replacement body message messages description title summary comment comments caption note
   notes thought thoughts observation observations reasoning explanation question answer reply subject
   markdown html csv xml prompt instruction instructions goal plan task todo details excerpt abstract
   feedback review reason label labels tag tags`.split(/\s+/),
);
/** Keys of things that a call leaves out. */
const LEFT_OUT = /^(?:exclude|ignore)/;
/** Keys of search texts: a plain name behind them is no file that is opened. */
const SEARCHED: ReadonlySet<string> = new Set(
  'query q search searchtext replace replacewith keyword keywords pattern regex regexp'.split(' '),
);
/** Keys of texts that are prose where they have more than one line. */
export const LINES: ReadonlySet<string> = new Set('text data value string blob'.split(' '));
export const FILE_KEY =
  /path|file|dir|folder|uri|url|src|dst|dest|source|target|from$|^to$|input|output|link|root|cwd/;
export const COMMAND_KEY =
  /command|cmd|script|shell|exec|argv|args|arguments|code|run|eval|stdin|entry/;
const PATCH_KEY = /patch|diff/;
/** A patch may stand further right, as in a mail. */
const PATCH_HEADER =
  /^[ \t]{0,64}(?:--- |\+\+\+ |Index: |rename (?:from|to) |copy (?:from|to) |diff --git |\*\*\* (?:(?:Add|Update|Delete) File|Move to): ?)(.+)$/gm;
/** A name as git writes it where it has odd signs: `"b/pol\\151cy.yaml"`. */
const QUOTED_NAME = /"((?:[^"\\\n]|\\.){1,4096})"/g;
/** An option that strips folders from the names in a patch. */
const STRIPS = /^(?:-p(?:[2-9]|\d\d).*|-p|--strip(?:=.*)?)$/;
const STRIP_KEY = /^(?:p|strip|striplevel|stripcomponents)$/;
/** A list of patterns, which bash reads with `extglob`. */
const PATTERN_LIST = /([?*+@!])\(([^()]*)\)/g;
const LISTS_DEPTH = 3;
/** The signs of a path; a text without them is a plain word. */
const PATHISH = /[/\\~.%$*?\0]/;
/** The signs of a path that leaves its folder, or goes further down. */
const SLASHED = /[/\\~]/;
/** A text with none of these is one word to every shell. */
const SIGNS = /[\s"'`$;&|<>(){}[\]\\,]/;
const QUOTING = /["'`\\]/g;
const SEPARATORS = /[\s"'`<>()[\]{},;|&]+/;
/** A part of a word that only a shell fills in: a variable, a list in braces, a set of letters. */
const EXPANDED = /\$[A-Za-z_{('"]|[\w./~]\{|\}[\w./~]|[\w./~*?]\[|\][\w./~*?]/;
/** A wildcard or an escape. */
const WILD = /[%*?]/;
const ANY = /./;
const ROOTED = /^(?:\/|\\\\|~|\.{1,2}[/\\]|[a-z]:[/\\]|file:|\$\{?\w)/i;

/** A `..` that takes back what stands before it: `a word\n/../policy.yaml`. */
const GOES_UP = /(?:^|\/)\.\.(?:\/|$)/;
/** Signs that stand in sentences and in code, and seldom in paths. */
const PROSE_SIGNS = /[\s"'`<>()[\]{},;]/;
/** The scheme and the host of a URI, where doubled slashes mean something. */
const ORIGIN = /^(?:\s*[a-z][a-z0-9+.-]{1,40}:\/\/[^/]*)?/i;

/** What a word needs to count as a name: nothing, a sign of a path, or a slash. */
type NameSign = 'nothing' | 'sign' | 'slash';

/** The names that are looked for. */
export interface WantedNames {
  /** Plain words, without a sign of a path, that are such names. */
  readonly baseNames: { has(word: string): boolean };
  /** Whether a text holds such a name, or a part of it. */
  isMentioned(text: string): boolean;
  /** Whether a single word behind a key of prose counts as well, such as a title. */
  readonly inProse?: boolean;
}

/** A text of a message that is too large to hold: its key, and the text if it is short. */
interface GatheredText {
  readonly key: string;
  readonly text?: string | undefined;
  readonly mayBeCommand?: boolean | undefined;
}

class Collector {
  readonly #names = new Set<string>();
  isWhole = true;
  readonly #wanted: WantedNames;
  /** The names in patches, as they stand there. */
  readonly #patched = new Set<string>();
  #strips = false;
  #nodesLeft = NODES_MAX;
  #costLeft = COST_MAX;

  constructor(wanted: WantedNames) {
    this.#wanted = wanted;
  }

  visit(value: unknown, key: string, depth = 0): void {
    if (depth > DEPTH_MAX || --this.#nodesLeft < 0) {
      this.isWhole = false;
      return;
    }
    if (typeof value === 'string') this.text(value, key);
    else if (Array.isArray(value)) for (const item of value) this.visit(item, key, depth + 1);
    else if (isObject(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (STRIP_KEY.test(foldedKey(name))) this.#strips = true;
        // A map of files has their names for keys.
        this.#add(name, 'sign');
        this.visit(member, name, depth + 1);
      }
    }
  }

  text(text: string, key: string): void {
    if (STRIPS.test(text)) this.#strips = true;
    const name = foldedKey(key);
    const trimmed = text.trim();
    const isShort = trimmed.length <= PATH_LENGTH_MAX;
    const isWord = !/\s/.test(trimmed);
    const isRooted = (isShort || isWord) && ROOTED.test(trimmed);
    // A blank before a slash is a folder, so it is trimmed only after `..` took it back.
    const remaining = isShort && GOES_UP.test(text) ? normalized(text).trim() : '';
    if (!PROSE_SIGNS.test(remaining)) this.#add(remaining, 'sign');
    if (isProse(name, key, text)) {
      const isNamed = isWord ? isRooted : isShort && this.#mayBeLink(trimmed);
      if (isNamed || (isWord && this.#wanted.inProse === true)) this.#add(trimmed, 'sign');
      return;
    }
    const isCommand = COMMAND_KEY.test(name);
    const isFile = FILE_KEY.test(name);
    const needed = neededBehind(name);
    const isWhole = isFile || isCommand || isRooted || isLine(trimmed);
    const rests = isShort ? [isWhole ? remaining : ''] : shortened(text);
    for (const one of rests) this.#add(one, needed);
    if (isWord || (isShort && isWhole)) this.#add(trimmed, needed);
    if (!SIGNS.test(text)) return;
    if (PATCH_KEY.test(name)) this.#patch(text);
    else if (isCommand || this.#mayHideName(text)) this.#command(text, needed);
    else if (isFile && (isShort || isWord)) this.#words(text, needed, ANY);
    else this.#words(text, needed, WILD);
  }

  /** Whether a line of prose, which may mention any name, could still lead to one by a link. */
  #mayBeLink(line: string): boolean {
    if (this.#wanted.inProse !== true || !isLine(line)) return false;
    return !WILD.test(line) && !this.#wanted.isMentioned(line);
  }

  /** Whether a shell that reads this text could find a wanted name in it. */
  #mayHideName(text: string): boolean {
    if (EXPANDED.test(text) || text.includes('extglob')) return true;
    return this.#wanted.isMentioned(text.replace(QUOTING, ''));
  }

  /** Adds words that are no wanted name, but may lead to one by links or patterns. */
  #words(text: string, needed: NameSign, chosen: RegExp): void {
    if (!chosen.test(text)) return;
    for (const word of text.split(SEPARATORS)) if (chosen.test(word)) this.#add(word, needed);
  }

  /** Adds the files that a patch changes; the rest of a patch is their content. */
  #patch(text: string): void {
    for (const [, named = ''] of text.matchAll(PATCH_HEADER)) {
      const quoted = [...named.matchAll(QUOTED_NAME)].map(([, name = '']) => withoutEscapes(name));
      for (const part of [named, ...named.split(/\s+/), ...quoted]) {
        const file = part.replace(/\t.*$/, '').trim();
        this.#add(file, 'nothing');
        this.#add(file.replace(/^[a-z]\//, ''), 'nothing');
        if (file.length <= PATH_LENGTH_MAX) this.#patched.add(file);
      }
    }
  }

  found(): NamedPaths {
    // With options such as `-p2`, the names in a patch lose more than one folder.
    for (const file of this.#strips ? this.#patched : []) {
      const parts = file.split('/');
      const count = Math.min(parts.length, FOLDERS_MAX);
      for (let from = 2; from < count; from++) this.#add(parts.slice(from).join('/'), 'nothing');
    }
    return { names: [...this.#names], isWhole: this.isWhole };
  }

  #command(text: string, needed: NameSign): void {
    const lines = text.includes('extglob') ? [text, withAlternatives(text)] : [text];
    for (const line of lines) {
      // The call is stopped anyway once something could not be read.
      if (!this.isWhole) return;
      const { words, isWhole, cost } = readShell(line, this.#costLeft);
      this.#costLeft = Math.max(0, this.#costLeft - cost);
      if (!isWhole) this.isWhole = false;
      for (const { texts } of words.filter((word) => !word.isProse)) {
        for (const word of texts) this.#word(word, needed);
      }
    }
  }

  #word(word: string, needed: NameSign): void {
    this.#add(word, needed);
    if (STRIPS.test(word)) this.#strips = true;
    if (!SIGNS.test(word)) return;
    if (word.includes('\n')) this.#patch(word);
    for (const part of word.split(SEPARATORS)) this.#add(part, needed);
  }

  #add(name: string, needed: NameSign): void {
    if (name === '') return;
    if (name.length > PATH_LENGTH_MAX) {
      // A server may make it shorter before it opens it: `././policy.yaml`.
      const names = shortened(name);
      if (names.length === 0 && this.#wanted.isMentioned(name)) this.isWhole = false;
      for (const one of names) this.#add(one, needed);
      return;
    }
    if (isDecodedInPart(name)) this.isWhole = false;
    if (needed === 'slash' && !SLASHED.test(name)) return;
    const isPlain = !PATHISH.test(name) && !this.#wanted.baseNames.has(name);
    if (needed === 'sign' && isPlain) return;
    if (this.#names.size >= NAMES_MAX) this.isWhole = false;
    else this.#names.add(name);
  }
}

/** Whether a text is one line with a slash, which may be a path with blanks in it. */
function isLine(text: string): boolean {
  return text.includes('/') && (!/[\n\r]/.test(text) || withoutUriBreaks(text) !== text);
}

/** What is left of a text that is too long for a path, where servers shorten it to one. */
function shortened(text: string): readonly string[] {
  if (!/[/\\%]/.test(text)) return [];
  const written = decoded(withoutUriBreaks(text)).flatMap((one) => [
    one,
    one.replaceAll('\\', '/'),
  ]);
  const names = written.flatMap((one) => {
    const [origin = ''] = ORIGIN.exec(one) ?? [];
    const path = one
      .slice(origin.length)
      .replace(/\/(?:\.?\/)+/g, '/')
      .replace(/^(?:\.\/)+/, '');
    return [path, normalized(path)].map((rest) => `${origin}${rest}`.trim());
  });
  return [...new Set(names)].filter((one) => one.length <= PATH_LENGTH_MAX);
}

function neededBehind(name: string): NameSign {
  if (SEARCHED.has(name)) return 'slash';
  return FILE_KEY.test(name) || COMMAND_KEY.test(name) ? 'nothing' : 'sign';
}

/** `@(a|b)` as `{a,b}`; where items may stand together, as parts that only the shell knows as well. */
function withAlternatives(line: string): string {
  let written = line;
  for (let depth = 0; depth < LISTS_DEPTH; depth++) {
    written = written.replace(PATTERN_LIST, (_whole, sign: string, list: string) => {
      if (sign === '!') return '*';
      const items = list.split('|').join(',');
      return sign === '+' || sign === '*' ? `{${items},,$1$1$1}` : `{${items},}`;
    });
  }
  return written;
}

export function foldedKey(key: string): string {
  return key.toLowerCase().replace(/[_\s-]/g, '');
}

/** Whether every text behind a key is prose. */
export function isAlwaysProse(name: string): boolean {
  return PROSE.has(name) || LEFT_OUT.test(name);
}

/** Whether a text is prose, by the key that it stands behind. */
function isProse(name: string, key: string, text: string): boolean {
  if (isAlwaysProse(name)) return true;
  const hasLines = text.trim().includes('\n');
  // `{"README.md": "…"}`: the name of a file, and its content.
  return hasLines && (LINES.has(name) || /[^.]\.\w{1,8}$|\//.test(key));
}

/** Every name in a value that may be that of a file. */
export function namedPaths(value: unknown, wanted: WantedNames): NamedPaths {
  const collector = new Collector(wanted);
  collector.visit(value, '');
  return collector.found();
}

/** The same of the texts of a large message: a long one must be known to be prose, or no command. */
export function namedInTexts(texts: readonly GatheredText[], wanted: WantedNames): NamedPaths {
  const collector = new Collector(wanted);
  for (const { key, text, mayBeCommand } of texts) {
    if (text !== undefined) collector.text(text, key);
    else if (mayBeCommand === true && !isProse(foldedKey(key), key, 'a\nb'))
      collector.isWhole = false;
  }
  return collector.found();
}

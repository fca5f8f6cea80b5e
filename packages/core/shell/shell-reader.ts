// A command line as a shell reads it: quotes, escapes, variables, redirections, substitutions, and
// the commands inside of commands. What is in doubt is read in every way.
import { type Command, Commands, type Heredoc } from './commands.ts';
import { withoutEscapes } from './escapes.ts';
import type { Reading, ShellWord } from './reading.ts';
import { variablesOfSum } from './setters.ts';
import {
  END,
  endOfBrace,
  endOfHeredoc,
  endOfLine,
  endOfQuote,
  endOfRun,
  INSIDE,
  LIST,
  mayEndBefore,
  OPEN,
  QUOTING,
  redirectionAt,
  signAt,
} from './signs.ts';
import type { Unit } from './unit.ts';
import { delimiterOf, plainStart, textsOf } from './word.ts';

const DEPTH_MAX = 6;
const NESTING = /[\s;&|<>()$`"'\\]/;
/** Blanks to everybody but a shell. */
const ODD_BLANK = /[^\S \t\n]/;
const NAME = /[A-Za-z_]\w*/y;
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]=]*\])?(\+?)=/;
const HEREDOCS_MAX = 32;

interface Place {
  readonly reading: Reading;
  readonly depth: number;
  /** What it prints becomes a part of a command. */
  readonly isUsed: boolean;
}

export class ShellReader {
  readonly #text: string;
  readonly #place: Place;
  readonly #hasOddBlank: boolean;
  readonly #commands: Commands;
  #heredocs: Heredoc[] = [];
  #at = 0;

  constructor(text: string, place: Place, hasOddBlank = ODD_BLANK.test(text)) {
    this.#text = text;
    this.#place = place;
    this.#hasOddBlank = hasOddBlank;
    this.#commands = new Commands(place.reading, place.isUsed);
  }

  readAll(): void {
    while (!this.#isOver) {
      this.#readList();
      this.#at++;
    }
  }

  get #isOver(): boolean {
    return this.#at >= this.#text.length || this.#place.reading.isOver;
  }

  /** Up to the bracket that closes what was opened before, or to the end. */
  #readList(): void {
    let brackets = 0;
    while (!this.#isOver) {
      if (this.#readPlainWord()) continue;
      const char = this.#text[this.#at] ?? '';
      if (char === ')' && brackets === 0) break;
      if (char === '(') brackets++;
      if (char === ')') brackets--;
      if (!this.#separated(char)) this.#readWord('word');
    }
    this.#end('list');
  }

  /** Goes over what stands between two words. */
  #separated(char: string): boolean {
    const next = this.#text[this.#at + 1];
    if (char === ' ' || char === '\t') this.#at++;
    else if (char === '\\' && next === '\n') this.#at += 2;
    else if (char === '\n') this.#newline();
    else if (char === '#') this.#comment();
    else if (char === '<' || char === '>' || (char === '&' && next === '>')) this.#redirection();
    else if (char === '|') {
      this.#at += next === '|' || next === '&' ? 2 : 1;
      this.#end(next === '|' ? 'list' : 'pipe');
    } else if (char === ';' || char === '&') {
      this.#at++;
      this.#end('list');
    } else if (char === '(' || char === ')') {
      this.#at++;
      if (char === '(') this.#commands.defineFunction();
      if (char === '(' && next === '(') this.#sum(this.#at);
      this.#end('list');
      this.#commands.group(char === '(' ? 1 : -1);
    } else return false;
    return true;
  }

  /** `((a=5))`: what comes out of a sum is not known. */
  #sum(at: number): void {
    const { reading } = this.#place;
    for (const name of variablesOfSum(this.#text, at, reading.budget)) reading.lose(name);
  }

  #newline(): void {
    this.#at++;
    const heredocs = this.#heredocs;
    this.#heredocs = [];
    const copied = heredocs.map(({ command }) => this.#commands.isCopy(command));
    this.#end('newline');
    for (const [index, heredoc] of heredocs.entries()) {
      this.#heredoc(heredoc, copied[index] === true);
    }
  }

  #comment(): void {
    this.#at++;
    const texts = [this.#take(endOfLine(this.#text, this.#at))];
    this.#commands.add({ texts, kind: 'comment', isProse: true });
  }

  #end(how: 'pipe' | 'list' | 'newline'): void {
    this.#evaluated();
    for (const word of this.#commands.end(how)) this.#nested(word);
  }

  /** A word that is a command line itself: `sh -c "…"`, `eval "…"`, `ssh host '…'`. */
  #nested({ texts, isProse }: ShellWord): void {
    if (isProse) return;
    for (const text of texts) if (NESTING.test(text)) this.#readInside(text, this.#place);
  }

  #readInside(text: string, place: Place): ShellReader | undefined {
    const { reading, depth } = place;
    if (text === this.#text && depth > 0) return undefined;
    if (depth >= DEPTH_MAX) reading.leaveOut();
    if (depth >= DEPTH_MAX || !reading.budget.takesText(text.length)) return undefined;
    const reader = new ShellReader(text, { ...place, depth: depth + 1 });
    reader.readAll();
    return reader;
  }

  #redirection(): void {
    const sign = redirectionAt(this.#text, this.#at);
    if (sign.endsWith('(')) return this.#readWord('word');
    this.#at += sign.length;
    while (/[ \t]/.test(this.#text[this.#at] ?? '')) this.#at++;
    if (sign !== '<<' && sign !== '<<-') return this.#readWord('redirection');
    const command = this.#commands.current;
    const end = this.#delimiter(command);
    if (this.#heredocs.length >= HEREDOCS_MAX) this.#place.reading.leaveOut();
    else this.#heredocs.push({ end, isIndented: sign === '<<-', command });
  }

  /** Shells do not agree on the signs in the word that ends it: then nothing is only said. */
  #delimiter(command: Command): string {
    const start = this.#at;
    const units = this.#units();
    const written = this.#text.slice(start, this.#at);
    if (/[$`\n]/.test(written)) command.isFed = true;
    return delimiterOf(units, written);
  }

  #heredoc({ end, isIndented }: Heredoc, isCopied: boolean): void {
    const start = this.#at;
    const { until, next } = endOfHeredoc(this.#text, start, { end, isIndented });
    this.#at = next;
    const text = this.#text.slice(start, until);
    const isProse = isCopied && !mayEndBefore(text, end);
    this.#place.reading.add({ texts: [text], kind: 'heredoc', isProse });
    if (!isProse) this.#readInside(text, this.#place);
  }

  /** Most words are a run of letters up to a blank, and nothing else. */
  #readPlainWord(): boolean {
    while (this.#text[this.#at] === ' ') this.#at++;
    const end = endOfRun(this.#text, this.#at, END | QUOTING | OPEN);
    if (end < this.#text.length && (signAt(this.#text, end) & END) === 0) return false;
    const next = this.#text[end];
    const isOther = next === '<' || next === '>' || this.#text[this.#at] === '#';
    if (end === this.#at || isOther) return false;
    const text = this.#text.slice(this.#at, end);
    if (text.includes('=') && ASSIGNMENT.test(text)) return false;
    const isProse = this.#commands.isMessageNext;
    this.#at = end;
    const mayBeLine = this.#hasOddBlank && NESTING.test(text);
    this.#commands.add({ texts: [text], kind: 'word', isProse }, mayBeLine);
    return true;
  }

  #readWord(kind: 'word' | 'redirection'): void {
    const start = this.#at;
    const isMessage = this.#commands.isMessageNext;
    const units = this.#units(isMessage);
    // Whatever it is: a reader that stands still never ends.
    if (this.#at === start) this.#at++;
    if (units.length === 0) return;
    const { reading } = this.#place;
    const texts = reading.wholeTexts(textsOf(units, reading.budget));
    if (kind === 'word' && this.#isDescriptor(texts[0] ?? '')) return;
    this.#assigned(units, texts);
    const isProse = isMessage && kind === 'word';
    const word: ShellWord = { texts, kind, isProse };
    const mayBeLine = units.some((unit) => this.#mayNest(unit));
    this.#commands.add(word, mayBeLine);
    if (kind === 'redirection' && mayBeLine) this.#nested(word);
  }

  /** The number before a redirection, as in `2>x`. */
  #isDescriptor(text: string): boolean {
    const next = this.#text[this.#at];
    return (next === '<' || next === '>') && /^\d{1,4}$/.test(text);
  }

  /** The name of a variable that nobody has set is no command, and neither are many of them. */
  #mayNest(unit: Unit): boolean {
    if (unit.kind === 'value') return !this.#place.reading.isUnset(unit.texts);
    return NESTING.test(unit.text);
  }

  /** `eval` puts its words together before it reads them. */
  #evaluated(): void {
    const line = this.#commands.evaluated();
    if (line !== undefined) this.#readInside(line, this.#place);
  }

  #assigned(units: readonly Unit[], texts: readonly string[]): void {
    const start = plainStart(units);
    if (!start.includes('=')) return;
    const [whole = '', name, plus] = ASSIGNMENT.exec(start) ?? [];
    if (name === undefined) return;
    const { reading } = this.#place;
    // `a=(x y)`: a list, of which any item may be meant.
    if (start === whole && this.#text[this.#at] === '(') return reading.lose(name);
    const values = texts.map((text) => text.slice(whole.length));
    reading.assign(name, values, plus === '+');
  }

  /** The pieces of a word, up to a blank or a sign that ends it. */
  #units(isSaid = false): readonly Unit[] {
    const units: Unit[] = [];
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? '';
      const next = this.#text[this.#at + 1] ?? '';
      if ((char === '<' || char === '>') && next === '(') {
        this.#commands.feed();
        units.push({ kind: 'value', texts: this.#substitution(2, isSaid), isQuoted: false });
      } else if ((signAt(this.#text, this.#at) & END) !== 0) break;
      else if (char === '\\') {
        this.#at += 2;
        if (next !== '\n' && next !== '') units.push({ kind: 'quoted', text: next });
      } else if (char === "'") units.push({ kind: 'quoted', text: this.#single() });
      else if (char === '"') this.#double(units, isSaid);
      else if (char === '`') units.push(this.#backticks(false, isSaid));
      else if (char === '$') this.#dollar(units, false, isSaid);
      else {
        // A part of a list stands alone.
        const end = Math.max(this.#at + 1, endOfRun(this.#text, this.#at, END | QUOTING | LIST));
        units.push({ kind: 'plain', text: this.#take(end) });
      }
    }
    return units;
  }

  /** The text from here to there, which is read with that. */
  #take(end: number): string {
    const text = this.#text.slice(this.#at, end);
    this.#at = end;
    return text;
  }

  /** What stands between two single quotes. */
  #single(): string {
    const end = this.#text.indexOf("'", ++this.#at);
    const text = this.#take(end === -1 ? this.#text.length : end);
    this.#at++;
    return text;
  }

  #double(units: Unit[], isSaid: boolean): void {
    units.push({ kind: 'quoted', text: '' });
    this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      const char = this.#text[this.#at] ?? '';
      const next = this.#text[this.#at + 1] ?? '';
      if (char === '\\') {
        this.#at += 2;
        if (next !== '\n')
          units.push({ kind: 'quoted', text: /[$`"\\]/.test(next) ? next : char + next });
      } else if (char === '`') units.push(this.#backticks(true, isSaid));
      else if (char === '$') this.#dollar(units, true, isSaid);
      else {
        const end = endOfRun(this.#text, this.#at, INSIDE);
        units.push({ kind: 'quoted', text: this.#take(end) });
      }
    }
    this.#at++;
  }

  #dollar(units: Unit[], isQuoted: boolean, isSaid: boolean): void {
    const next = this.#text[this.#at + 1] ?? '';
    if ((next === "'" || next === '"') && !isQuoted) {
      this.#at++;
      if (next === '"') this.#double(units, isSaid);
      else units.push({ kind: 'quoted', text: withoutEscapes(this.#escaped("'")) });
      return;
    }
    // `$[1<<2]`: a sum to bash, a here-document to others.
    if (next === '[') this.#commands.feed();
    const texts = this.#expansion(next, isSaid);
    if (texts === undefined) units.push({ kind: 'quoted', text: '$' });
    else units.push({ kind: 'value', texts, isQuoted });
  }

  /** The values of what stands behind a `$`, or nothing where it is only a sign. */
  #expansion(next: string, isSaid: boolean): readonly string[] | undefined {
    const { reading } = this.#place;
    if (next === '(') return this.#substitution(2, isSaid);
    if (next === '{') return this.#parameter();
    NAME.lastIndex = this.#at + 1;
    const [name] = NAME.exec(this.#text) ?? [];
    if (name !== undefined) {
      this.#at += 1 + name.length;
      return reading.valuesOf(name);
    }
    const isSpecial = /[@*#?$!\d-]/.test(next);
    this.#at += isSpecial ? 2 : 1;
    return isSpecial ? reading.unknown() : undefined;
  }

  /** What stands up to a quote, where a backslash keeps a quote from ending it. */
  #escaped(quote: string): string {
    this.#at++;
    const text = this.#take(endOfQuote(this.#text, this.#at, quote));
    this.#at++;
    return text;
  }

  /** `$(…)`, `<(…)` and `>(…)`: what it runs is read; what it gives is known of `echo` alone. */
  #substitution(signs: number, isSaid: boolean): readonly string[] {
    const { reading, depth } = this.#place;
    const start = this.#at + signs;
    if (this.#text[start] === '(') this.#sum(start);
    if (depth >= DEPTH_MAX || reading.isOver) {
      reading.leaveOut();
      this.#at = this.#text.length;
      return reading.unknown();
    }
    const place = { reading, depth: depth + 1, isUsed: !isSaid };
    const inner = new ShellReader(this.#text, place, this.#hasOddBlank);
    inner.#at = start;
    inner.#readList();
    this.#at = inner.#at + 1;
    return this.#given(inner);
  }

  #given(inner: ShellReader | undefined): readonly string[] {
    const printed = inner === undefined ? undefined : inner.#commands.printed();
    return printed === undefined ? this.#place.reading.unknown() : [printed];
  }

  #backticks(isQuoted: boolean, isSaid: boolean): Unit {
    const text = this.#escaped('`');
    const signs = isQuoted ? /\\([`$\\"])/g : /\\([`$\\])/g;
    const plain = text.replace(signs, '$1');
    const inner = this.#readInside(plain, { ...this.#place, isUsed: !isSaid });
    return { kind: 'value', texts: this.#given(inner), isQuoted };
  }

  /** `${NAME}`, and what stands for it where it is not set. */
  #parameter(): readonly string[] {
    const { reading, depth } = this.#place;
    this.#at += 2;
    const body = this.#take(endOfBrace(this.#text, this.#at));
    this.#at++;
    if (depth >= DEPTH_MAX || !reading.budget.takes(body.length)) {
      reading.leaveOut();
      return reading.unknown();
    }
    const [, name = '', rest = ''] = /^([A-Za-z_]\w*)([\s\S]*)$/.exec(body) ?? [];
    if (name === '') return reading.unknown();
    if (rest === '') return reading.valuesOf(name);
    const [, sign = '', otherwise = ''] = /^:?([-=+?])([\s\S]*)$/.exec(rest) ?? [];
    const place = { ...this.#place, depth: depth + 1 };
    const inner = new ShellReader(sign === '' ? rest : `"${otherwise}"`, place);
    const texts = reading.wholeTexts(textsOf(inner.#units(), reading.budget));
    if (sign === '') return reading.unknown();
    if (sign === '=') reading.assign(name, texts);
    const values = reading.valuesOf(name);
    reading.budget.takes(values.length + texts.length);
    return [...new Set([...values, ...texts])];
  }
}

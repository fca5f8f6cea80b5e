// The words of a command line: quotes, escapes, variables and substitutions.
import { variablesInArithmetic } from './builtins.ts';
import { withoutEscapes } from './escapes.ts';
import { changedValues } from './parameter-values.ts';
import type { Reading } from './reading.ts';
import { type WordPiece, wordTexts } from './word-texts.ts';

export const DEPTH_MAX = 6;
/** Looks like a blank, but is none to a shell. */
const ODD_BLANK = /[^\S \t\n]/;

const NAME = /[A-Za-z_]\w*/y;
const SPECIAL_PARAMETER = /[@*#?$!\d-]/y;
const POSITIONAL = /^[@*\d]/;
const TO_SINGLE_QUOTE = /[^']*/y;
/** Up to what has a meaning between double quotes. */
const QUOTED_RUN = /[^\\"`$]+/y;
/** A shell takes these out before anything else. */
const CONTINUATION = /(?:\\\n)+/y;
const WORD_END = /[ \t\n;&|()<>]/y;
/** A part of a list in braces stands alone. */
const PLAIN_RUN = /[,{}]|[^ \t\n;&|()<>\\"`$',{}]+/y;
/** Longer ones are read as commands. */
const ARITHMETIC_LENGTH_MAX = 512;
/** Stands for a number that only the running shell knows: no path, but it may be a part of one. */
const SOME_NUMBER: readonly string[] = ['*'];
/** What `<(…)` becomes. */
const SOME_PIPE: readonly string[] = ['/dev/fd/63'];

const PARAMETER = /^()([A-Za-z_]\w*)([\s\S]*)$/;
const SCRIPT_PARAMETER = /^([#!]?)([A-Za-z_]\w*|\d+|[@*])([\s\S]*)$/;

export interface LineContext {
  readonly reading: Reading;
  readonly depth: number;
  /** What the line prints becomes a part of a command. */
  readonly isUsed: boolean;
}

export abstract class WordReader {
  protected readonly text: string;
  protected readonly context: LineContext;
  protected readonly reading: Reading;
  protected readonly hasOddBlank: boolean;
  /** The word that is being read is a message. */
  protected isMessage = false;
  protected at = 0;

  constructor(text: string, context: LineContext, hasOddBlank = ODD_BLANK.test(text)) {
    this.text = text;
    this.context = context;
    this.reading = context.reading;
    this.hasOddBlank = hasOddBlank;
  }

  /** Reads up to the bracket that closes what was opened before, or to the end. */
  protected abstract readList(): void;
  protected abstract readerOf(text: string, context: LineContext): WordReader;
  /** What all of it prints, where that is known. */
  protected abstract printed(): string | undefined;
  /** What the command prints may be run, or shells disagree on where it ends. */
  protected abstract markFed(): void;
  protected abstract readInside(text: string, context: LineContext): WordReader | undefined;

  /** What a sticky pattern matches here, without going over it. */
  protected peek(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? '';
  }

  /** The same, and goes over it. */
  protected take(pattern: RegExp): string {
    const found = this.peek(pattern);
    this.at += found.length;
    return found;
  }

  /** Goes over the sign that closes something; notes where the text ends before it. */
  protected closes(): void {
    if (this.at >= this.text.length) this.reading.isBroken = true;
    this.at++;
  }

  /** The pieces of a word, up to a blank or a sign that ends it. */
  protected pieces(): readonly WordPiece[] {
    const pieces: WordPiece[] = [];
    const quoted = (text: string) => pieces.push({ kind: 'quoted', text });
    while (this.at < this.text.length) {
      const char = this.text[this.at] ?? '';
      const next = this.text[this.at + 1] ?? '';
      if ((char === '<' || char === '>') && next === '(') {
        this.markFed();
        const texts = this.#substitution();
        const isNamed = this.reading.steps !== undefined;
        pieces.push({ kind: 'value', texts: isNamed ? SOME_PIPE : texts, isQuoted: false });
      } else if (this.peek(WORD_END) !== '') break;
      else if (char === '\\') {
        this.at += 2;
        if (next !== '\n' && next !== '') quoted(next);
      } else if (char === "'") {
        this.at++;
        quoted(this.take(TO_SINGLE_QUOTE));
        this.closes();
      } else if (char === '"') this.#doubleQuoted(pieces);
      else if (char === '`') pieces.push(this.#backticks(false));
      else if (char === '$') this.#dollar(pieces, false);
      else pieces.push({ kind: 'plain', text: this.take(PLAIN_RUN) });
    }
    return pieces;
  }

  #doubleQuoted(pieces: WordPiece[]): void {
    pieces.push({ kind: 'quoted', text: '' });
    this.at++;
    this.readQuoted(pieces, '"');
    this.closes();
  }

  /** Reads up to a double quote, or a whole text in which quotes have no meaning. */
  protected readQuoted(pieces: WordPiece[], end: '"' | undefined): void {
    while (this.at < this.text.length && this.text[this.at] !== end) {
      const char = this.text[this.at] ?? '';
      const next = this.text[this.at + 1] ?? '';
      if (char === '\\') {
        this.at += 2;
        const text = /[$`"\\]/.test(next) ? next : char + next;
        if (next !== '\n') pieces.push({ kind: 'quoted', text });
      } else if (char === '`') pieces.push(this.#backticks(true));
      else if (char === '$') this.#dollar(pieces, true);
      else if (char === '"') {
        this.at++;
        pieces.push({ kind: 'quoted', text: char });
      } else pieces.push({ kind: 'quoted', text: this.take(QUOTED_RUN) });
    }
  }

  #dollar(pieces: WordPiece[], isQuoted: boolean): void {
    this.at++;
    this.take(CONTINUATION);
    const next = this.text[this.at] ?? '';
    if (next === '"' && !isQuoted) return this.#doubleQuoted(pieces);
    if (next === "'" && !isQuoted) {
      pieces.push({ kind: 'quoted', text: withoutEscapes(this.#escaped("'")) });
      return;
    }
    // `$[1<<2]`: an expression to bash, a here-document to others.
    if (next === '[') this.markFed();
    const texts = this.#expansion(next);
    if (texts === undefined) pieces.push({ kind: 'quoted', text: '$' });
    else pieces.push({ kind: 'value', texts, isQuoted });
  }

  /** The values of what stands behind a `$`, or nothing where it is only a sign. */
  #expansion(next: string): readonly string[] | undefined {
    if (next === '(') {
      if (this.reading.steps !== undefined && this.takeArithmetic()) return SOME_NUMBER;
      this.at--;
      return this.#substitution();
    }
    if (next === '{') return this.#parameter();
    const name = this.take(NAME);
    // The name goes on in the next line.
    if (name !== '' && this.peek(CONTINUATION) !== '') this.reading.isBroken = true;
    if (name !== '') return this.reading.valuesOf(name);
    const special = this.take(SPECIAL_PARAMETER);
    return special === '' ? undefined : this.#special(special);
  }

  #special(name: string): readonly string[] {
    if (this.reading.steps === undefined) return this.reading.unknown();
    return POSITIONAL.test(name) ? this.reading.valuesOf(name) : SOME_NUMBER;
  }

  /** Goes over `((…))` and reads what runs inside of it; nothing where it is `( (…) )`. */
  protected takeArithmetic(): boolean {
    if (!this.text.startsWith('((', this.at)) return false;
    let open = 0;
    const end = Math.min(this.text.length, this.at + ARITHMETIC_LENGTH_MAX);
    for (let at = this.at; at < end && this.reading.budget.takes(1); at++) {
      if (this.text[at] === '(') open++;
      else if (this.text[at] === ')' && --open === 1) {
        if (this.text[at + 1] !== ')') return false;
        const inside = this.text.slice(this.at + 2, at);
        this.noteArithmetic(this.at + 2);
        this.at = at + 2;
        this.readExpanded(inside);
        return true;
      }
    }
    return false;
  }

  /** The texts of something that a shell expands as if it stood between double quotes. */
  protected readExpanded(text: string): readonly string[] {
    const { depth } = this.context;
    if (!/[$`\\]/.test(text)) return [text];
    if (depth >= DEPTH_MAX || !this.reading.budget.takesText(text.length)) {
      this.reading.leaveOut();
      return [];
    }
    const inner = this.readerOf(text, { ...this.context, depth: depth + 1 });
    const pieces: WordPiece[] = [];
    inner.readQuoted(pieces, undefined);
    return this.reading.wholeTexts(wordTexts(pieces, this.reading.budget));
  }

  /** `((a=5))`: the result of an expression is not known. */
  protected noteArithmetic(at: number): void {
    for (const name of variablesInArithmetic(this.text, at, this.reading.budget)) {
      this.reading.lose(name);
    }
  }

  /** What stands up to the next quote that no backslash escapes. */
  #escaped(quote: string): string {
    const start = ++this.at;
    while (this.at < this.text.length && this.text[this.at] !== quote) {
      this.at += this.text[this.at] === '\\' ? 2 : 1;
    }
    const text = this.text.slice(start, this.at);
    this.closes();
    return text;
  }

  /** `$(…)`, `<(…)` and `>(…)`: what it runs is read; what it prints is known of `echo` alone. */
  #substitution(): readonly string[] {
    const { depth } = this.context;
    const start = this.at + 2;
    if (this.text[start] === '(') this.noteArithmetic(start);
    if (depth >= DEPTH_MAX || this.reading.isOver) {
      this.reading.leaveOut();
      this.at = this.text.length;
      return this.reading.unknown();
    }
    const context = { ...this.context, depth: depth + 1, isUsed: !this.isMessage };
    const inner = this.readerOf(this.text, context);
    inner.at = start;
    const isFed = this.text[this.at] === '>';
    const { certain } = this.reading;
    this.reading.steps?.push({ kind: 'open', what: isFed ? 'fed_substitution' : 'substitution' });
    inner.readList();
    this.reading.certain = certain;
    this.reading.steps?.push({ kind: 'close' });
    this.at = inner.at;
    this.closes();
    return this.#printedBy(inner);
  }

  #printedBy(inner: WordReader | undefined): readonly string[] {
    const printed = inner === undefined ? undefined : inner.printed();
    return printed === undefined ? this.reading.unknown() : [printed];
  }

  #backticks(isQuoted: boolean): WordPiece {
    const signs = isQuoted ? /\\([`$\\"])/g : /\\([`$\\])/g;
    const text = this.#escaped('`').replace(signs, '$1');
    this.reading.steps?.push({ kind: 'open', what: 'substitution' });
    const { certain } = this.reading;
    const inner = this.readInside(text, { ...this.context, isUsed: !this.isMessage });
    this.reading.certain = certain;
    this.reading.steps?.push({ kind: 'close' });
    return { kind: 'value', texts: this.#printedBy(inner), isQuoted };
  }

  /** `${!NAME}`: the variable that is named by another. */
  #indirect(name: string): readonly string[] {
    const values = this.reading.valuesOf(name).flatMap((value) => this.reading.valuesOf(value));
    return this.reading.budget.takes(values.length) ? values : this.reading.unknown();
  }

  /** `${NAME}`, and what stands for it where it is not set. */
  #parameter(): readonly string[] {
    const { depth } = this.context;
    const start = ++this.at;
    for (let open = 1; this.at < this.text.length; this.at++) {
      const char = this.text[this.at];
      if (char === '\\') this.at++;
      else if (char === '{') open++;
      else if (char === '}' && --open === 0) break;
    }
    const body = this.text.slice(start, this.at);
    this.closes();
    // `${ cat x; }` and `${| cat x; }` run commands.
    const isRun = /^(?:[\s|]|\\\n)/.test(body);
    // `${x:'a[$(cat y)]'}`: an expression runs what its quotes hold.
    if (isRun || /^\w+:(?![-=+?]).*'[^']*(?:\$\(|`)/s.test(body)) this.reading.isBroken = true;
    if (depth >= DEPTH_MAX || !this.reading.budget.takes(body.length)) {
      this.reading.leaveOut();
      return this.reading.unknown();
    }
    const isScript = this.reading.steps !== undefined;
    const pattern = isScript ? SCRIPT_PARAMETER : PARAMETER;
    const [, sigil = '', name = '', rest = ''] = pattern.exec(body) ?? [];
    if (sigil === '#' && name !== '') return SOME_NUMBER;
    if (sigil === '!' && rest === '' && name !== '') return this.#indirect(name);
    if (sigil !== '') return this.reading.unknown();
    if (name === '') return this.reading.unknown();
    if (rest === '') return this.reading.valuesOf(name);
    const [, sign = '', otherwise = ''] = /^:?([-=+?])([\s\S]*)$/.exec(rest) ?? [];
    const context = { ...this.context, depth: depth + 1 };
    const inner = this.readerOf(sign === '' ? rest : `"${otherwise}"`, context);
    const { isBroken } = this.reading;
    const texts = this.reading.wholeTexts(wordTexts(inner.pieces(), this.reading.budget));
    // A quote in a pattern need not be closed.
    this.reading.isBroken = isBroken;
    if (sign === '') {
      const [operation = ''] = texts;
      if (isScript && /^\[[@*]\]$/.test(operation)) return this.reading.listsOf(name);
      const known = isScript ? changedValues(this.reading.valuesOf(name), operation) : undefined;
      return known ?? this.reading.unknown();
    }
    if (sign === '=') {
      // It may be set where the line starts.
      if (isScript) this.reading.lose(name);
      this.reading.assign(name, texts);
    }
    const values = this.reading.valuesOf(name);
    this.reading.budget.takes(values.length + texts.length);
    return [...new Set([...values, ...texts])];
  }
}

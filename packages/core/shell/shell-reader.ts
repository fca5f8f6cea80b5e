// A command line as a shell reads it: quotes, escapes, variables, redirections, substitutions, and
// the commands inside of commands. What shells read in several ways is read in each of them.
import { variablesInArithmetic } from './builtins.ts';
import { Commands, type Heredoc, type SimpleCommand } from './commands.ts';
import { withoutEscapes } from './escapes.ts';
import type { Reading, ShellWord } from './reading.ts';
import { heredocDelimiter, plainStart, type WordPiece, wordTexts } from './word-texts.ts';

const DEPTH_MAX = 6;
const HEREDOCS_MAX = 32;
const NESTING = /[\s;&|<>()$`"'\\]/;
/** Looks like a blank, but is none to a shell. */
const ODD_BLANK = /[^\S \t\n]/;
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]=]*\])?(\+?)=/;

const BLANKS = /[ \t]*/y;
const NAME = /[A-Za-z_]\w*/y;
const SPECIAL_PARAMETER = /[@*#?$!\d-]/y;
const TO_LINE_END = /[^\n]*/y;
const TO_SINGLE_QUOTE = /[^']*/y;
/** Up to what has a meaning between double quotes. */
const QUOTED_RUN = /[^\\"`$]+/y;
const WORD_END = /[ \t\n;&|()<>]/y;
/** A word without quotes, values and lists, if it ends where this does. */
const PLAIN_WORD = /[^ \t\n;&|()<>\\"`$'{]+/y;
/** A part of a list in braces stands alone. */
const PLAIN_RUN = /[,{}]|[^ \t\n;&|()<>\\"`$',{}]+/y;
/** The sign of a redirection, or of a process substitution. */
const REDIRECTION = /<<<|<<-?|[<>]\(|&>>|&>|<>|>>|>\||[<>]&|[<>]/y;

interface LineContext {
  readonly reading: Reading;
  readonly depth: number;
  /** What the line prints becomes a part of a command. */
  readonly isUsed: boolean;
}

export class ShellReader {
  readonly #text: string;
  readonly #context: LineContext;
  readonly #reading: Reading;
  readonly #hasOddBlank: boolean;
  readonly #commands: Commands;
  #heredocs: Heredoc[] = [];
  /** The word that is being read is a message. */
  #isMessage = false;
  #at = 0;

  constructor(text: string, context: LineContext, hasOddBlank = ODD_BLANK.test(text)) {
    this.#text = text;
    this.#context = context;
    this.#reading = context.reading;
    this.#hasOddBlank = hasOddBlank;
    this.#commands = new Commands(context.reading, context.isUsed);
  }

  readAll(): void {
    while (!this.#isOver) {
      this.#readList();
      this.#at++;
    }
  }

  get #isOver(): boolean {
    return this.#at >= this.#text.length || this.#reading.isOver;
  }

  /** What a sticky pattern matches here, without going over it. */
  #peek(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  /** The same, and goes over it. */
  #take(pattern: RegExp): string {
    const found = this.#peek(pattern);
    this.#at += found.length;
    return found;
  }

  /** Reads up to the bracket that closes what was opened before, or to the end. */
  #readList(): void {
    let brackets = 0;
    while (!this.#isOver) {
      if (this.#readPlainWord()) continue;
      const char = this.#text[this.#at] ?? '';
      if (char === ')' && brackets === 0) break;
      if (char === '(') brackets++;
      if (char === ')') brackets--;
      if (!this.#skipSeparator(char)) this.#readWord('word');
    }
    this.#end('list');
  }

  /** Goes over what stands between two words. */
  #skipSeparator(char: string): boolean {
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
      if (char === '(' && next === '(') this.#arithmetic(this.#at);
      this.#end('list');
      this.#commands.group(char === '(' ? 1 : -1);
    } else return false;
    return true;
  }

  /** `((a=5))`: the result of an expression is not known. */
  #arithmetic(at: number): void {
    for (const name of variablesInArithmetic(this.#text, at, this.#reading.budget)) {
      this.#reading.lose(name);
    }
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
    this.#commands.add({ texts: [this.#take(TO_LINE_END)], kind: 'comment', isProse: true });
  }

  #end(how: 'pipe' | 'list' | 'newline'): void {
    // `eval` puts its words together before it reads them.
    const line = this.#commands.evaluated();
    if (line !== undefined) this.#readInside(line, this.#context);
    for (const word of this.#commands.end(how)) this.#readNested(word);
  }

  /** A word that is a command line itself: `sh -c "…"`, `eval "…"`, `ssh host '…'`. */
  #readNested({ texts, isProse }: ShellWord): void {
    if (isProse) return;
    for (const text of texts) if (NESTING.test(text)) this.#readInside(text, this.#context);
  }

  #readInside(text: string, context: LineContext): ShellReader | undefined {
    const { depth } = context;
    if (text === this.#text && depth > 0) return undefined;
    if (depth >= DEPTH_MAX) this.#reading.leaveOut();
    if (depth >= DEPTH_MAX || !this.#reading.budget.takesText(text.length)) return undefined;
    const reader = new ShellReader(text, { ...context, depth: depth + 1 });
    reader.readAll();
    return reader;
  }

  #redirection(): void {
    if (this.#peek(REDIRECTION).endsWith('(')) return this.#readWord('word');
    const sign = this.#take(REDIRECTION);
    this.#take(BLANKS);
    if (sign !== '<<' && sign !== '<<-') return this.#readWord('redirection');
    const command = this.#commands.current;
    const end = this.#delimiter(command);
    if (this.#heredocs.length >= HEREDOCS_MAX) this.#reading.leaveOut();
    else this.#heredocs.push({ end, isIndented: sign === '<<-', command });
  }

  /** Shells disagree on signs in the word that ends a here-document: then nothing in it is prose. */
  #delimiter(command: SimpleCommand): string {
    const start = this.#at;
    this.#isMessage = false;
    const pieces = this.#pieces();
    const written = this.#text.slice(start, this.#at);
    if (/[$`\n]/.test(written)) command.isFed = true;
    return heredocDelimiter(pieces, written);
  }

  #heredoc({ end, isIndented }: Heredoc, isCopied: boolean): void {
    const start = this.#at;
    let until = this.#text.length;
    while (until === this.#text.length && this.#at < this.#text.length) {
      const lineStart = this.#at;
      const line = this.#take(TO_LINE_END);
      this.#at++;
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) until = lineStart;
    }
    const text = this.#text.slice(start, until);
    const isProse = isCopied && !mayEndBefore(text, end);
    this.#reading.add({ texts: [text], kind: 'heredoc', isProse });
    if (!isProse) this.#readInside(text, this.#context);
  }

  /** Most words are a run of letters up to a blank. */
  #readPlainWord(): boolean {
    while (this.#text[this.#at] === ' ') this.#at++;
    const text = this.#peek(PLAIN_WORD);
    const next = this.#text[this.#at + text.length] ?? ' ';
    if (text === '' || text.startsWith('#') || !/[ \t\n;&|()]/.test(next)) return false;
    if (text.includes('=') && ASSIGNMENT.test(text)) return false;
    const isProse = this.#commands.isMessageNext;
    this.#at += text.length;
    const mayBeLine = this.#hasOddBlank && NESTING.test(text);
    this.#commands.add({ texts: [text], kind: 'word', isProse }, mayBeLine);
    return true;
  }

  #readWord(kind: 'word' | 'redirection'): void {
    const start = this.#at;
    this.#isMessage = this.#commands.isMessageNext;
    const isProse = this.#isMessage && kind === 'word';
    const pieces = this.#pieces();
    // A reader that stands still never ends.
    if (this.#at === start) this.#at++;
    if (pieces.length === 0) return;
    const texts = this.#reading.wholeTexts(wordTexts(pieces, this.#reading.budget));
    if (kind === 'word' && this.#isDescriptor(texts[0] ?? '')) return;
    this.#noteAssignment(pieces, texts);
    const word: ShellWord = { texts, kind, isProse };
    const mayBeLine = pieces.some((piece) => this.#mayNest(piece));
    this.#commands.add(word, mayBeLine);
    if (kind === 'redirection' && mayBeLine) this.#readNested(word);
  }

  /** The number before a redirection, as in `2>x`. */
  #isDescriptor(text: string): boolean {
    const next = this.#text[this.#at];
    return (next === '<' || next === '>') && /^\d{1,4}$/.test(text);
  }

  /** The name of a variable that is not set is no command, and neither are several of them. */
  #mayNest(piece: WordPiece): boolean {
    if (piece.kind === 'value') return !this.#reading.isUnset(piece.texts);
    return NESTING.test(piece.text);
  }

  #noteAssignment(pieces: readonly WordPiece[], texts: readonly string[]): void {
    const start = plainStart(pieces);
    if (!start.includes('=')) return;
    const [whole = '', name, plus] = ASSIGNMENT.exec(start) ?? [];
    if (name === undefined) return;
    // `a=(x y)`: a list, of which any item may be used.
    if (start === whole && this.#text[this.#at] === '(') return this.#reading.lose(name);
    const values = texts.map((text) => text.slice(whole.length));
    this.#reading.assign(name, values, plus === '+');
  }

  /** The pieces of a word, up to a blank or a sign that ends it. */
  #pieces(): readonly WordPiece[] {
    const pieces: WordPiece[] = [];
    const quoted = (text: string) => pieces.push({ kind: 'quoted', text });
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? '';
      const next = this.#text[this.#at + 1] ?? '';
      if ((char === '<' || char === '>') && next === '(') {
        this.#commands.current.isFed = true;
        pieces.push({ kind: 'value', texts: this.#substitution(), isQuoted: false });
      } else if (this.#peek(WORD_END) !== '') break;
      else if (char === '\\') {
        this.#at += 2;
        if (next !== '\n' && next !== '') quoted(next);
      } else if (char === "'") {
        this.#at++;
        quoted(this.#take(TO_SINGLE_QUOTE));
        this.#at++;
      } else if (char === '"') this.#doubleQuoted(pieces);
      else if (char === '`') pieces.push(this.#backticks(false));
      else if (char === '$') this.#dollar(pieces, false);
      else pieces.push({ kind: 'plain', text: this.#take(PLAIN_RUN) });
    }
    return pieces;
  }

  #doubleQuoted(pieces: WordPiece[]): void {
    pieces.push({ kind: 'quoted', text: '' });
    this.#at++;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      const char = this.#text[this.#at] ?? '';
      const next = this.#text[this.#at + 1] ?? '';
      if (char === '\\') {
        this.#at += 2;
        const text = /[$`"\\]/.test(next) ? next : char + next;
        if (next !== '\n') pieces.push({ kind: 'quoted', text });
      } else if (char === '`') pieces.push(this.#backticks(true));
      else if (char === '$') this.#dollar(pieces, true);
      else pieces.push({ kind: 'quoted', text: this.#take(QUOTED_RUN) });
    }
    this.#at++;
  }

  #dollar(pieces: WordPiece[], isQuoted: boolean): void {
    this.#at++;
    const next = this.#text[this.#at] ?? '';
    if (next === '"' && !isQuoted) return this.#doubleQuoted(pieces);
    if (next === "'" && !isQuoted) {
      pieces.push({ kind: 'quoted', text: withoutEscapes(this.#escaped("'")) });
      return;
    }
    // `$[1<<2]`: an expression to bash, a here-document to others.
    if (next === '[') this.#commands.current.isFed = true;
    const texts = this.#expansion(next);
    if (texts === undefined) pieces.push({ kind: 'quoted', text: '$' });
    else pieces.push({ kind: 'value', texts, isQuoted });
  }

  /** The values of what stands behind a `$`, or nothing where it is only a sign. */
  #expansion(next: string): readonly string[] | undefined {
    if (next === '(') {
      this.#at--;
      return this.#substitution();
    }
    if (next === '{') return this.#parameter();
    const name = this.#take(NAME);
    if (name !== '') return this.#reading.valuesOf(name);
    return this.#take(SPECIAL_PARAMETER) === '' ? undefined : this.#reading.unknown();
  }

  /** What stands up to the next quote that no backslash escapes. */
  #escaped(quote: string): string {
    const start = ++this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== quote) {
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    }
    return this.#text.slice(start, this.#at++);
  }

  /** `$(…)`, `<(…)` and `>(…)`: what it runs is read; what it prints is known of `echo` alone. */
  #substitution(): readonly string[] {
    const { depth } = this.#context;
    const start = this.#at + 2;
    if (this.#text[start] === '(') this.#arithmetic(start);
    if (depth >= DEPTH_MAX || this.#reading.isOver) {
      this.#reading.leaveOut();
      this.#at = this.#text.length;
      return this.#reading.unknown();
    }
    const context = { ...this.#context, depth: depth + 1, isUsed: !this.#isMessage };
    const inner = new ShellReader(this.#text, context, this.#hasOddBlank);
    inner.#at = start;
    inner.#readList();
    this.#at = inner.#at + 1;
    return this.#printedBy(inner);
  }

  #printedBy(inner: ShellReader | undefined): readonly string[] {
    const printed = inner === undefined ? undefined : inner.#commands.printed();
    return printed === undefined ? this.#reading.unknown() : [printed];
  }

  #backticks(isQuoted: boolean): WordPiece {
    const signs = isQuoted ? /\\([`$\\"])/g : /\\([`$\\])/g;
    const text = this.#escaped('`').replace(signs, '$1');
    const inner = this.#readInside(text, { ...this.#context, isUsed: !this.#isMessage });
    return { kind: 'value', texts: this.#printedBy(inner), isQuoted };
  }

  /** `${NAME}`, and what stands for it where it is not set. */
  #parameter(): readonly string[] {
    const { depth } = this.#context;
    const start = ++this.#at;
    for (let open = 1; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\\') this.#at++;
      else if (char === '{') open++;
      else if (char === '}' && --open === 0) break;
    }
    const body = this.#text.slice(start, this.#at++);
    if (depth >= DEPTH_MAX || !this.#reading.budget.takes(body.length)) {
      this.#reading.leaveOut();
      return this.#reading.unknown();
    }
    const [, name = '', rest = ''] = /^([A-Za-z_]\w*)([\s\S]*)$/.exec(body) ?? [];
    if (name === '') return this.#reading.unknown();
    if (rest === '') return this.#reading.valuesOf(name);
    const [, sign = '', otherwise = ''] = /^:?([-=+?])([\s\S]*)$/.exec(rest) ?? [];
    const context = { ...this.#context, depth: depth + 1 };
    const inner = new ShellReader(sign === '' ? rest : `"${otherwise}"`, context);
    const texts = this.#reading.wholeTexts(wordTexts(inner.#pieces(), this.#reading.budget));
    if (sign === '') return this.#reading.unknown();
    if (sign === '=') this.#reading.assign(name, texts);
    const values = this.#reading.valuesOf(name);
    this.#reading.budget.takes(values.length + texts.length);
    return [...new Set([...values, ...texts])];
  }
}

/** Whether a shell that joins lines at a backslash sees the end of a here-document before we do. */
function mayEndBefore(text: string, end: string): boolean {
  if (!text.includes('\\\n')) return false;
  const lines = text.replaceAll('\\\n', '').split('\n');
  return lines.some((line) => line.replace(/^\t+/, '') === end);
}

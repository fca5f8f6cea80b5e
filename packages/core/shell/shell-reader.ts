// A command line as a shell reads it: words, redirections, here-documents, and the commands inside of
// commands. What shells read in several ways is read in each of them.
import { Commands, type Heredoc, type SimpleCommand } from './commands.ts';
import type { ShellWord } from './reading.ts';
import type { CommandSign } from './steps.ts';
import { DEPTH_MAX, type LineContext, WordReader } from './word-reader.ts';
import {
  heredocDelimiter,
  plainStart,
  UNKNOWN,
  type WordPiece,
  wordTexts,
  wordWays,
} from './word-texts.ts';

const HEREDOCS_MAX = 32;
const NESTING = /[\s;&|<>()$`"'\\]/;
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[[^\]=]*\])?(\+?)=/;

const BLANKS = /[ \t]*/y;
const TO_LINE_END = /[^\n]*/y;
/** A word without quotes, values and lists, if it ends where this does. */
const PLAIN_WORD = /[^ \t\n;&|()<>\\"`$'{]+/y;
/** The sign of a redirection, or of a process substitution. */
const REDIRECTION = /<<<|<<-?|[<>]\(|&>>|&>|<>|>>|>\||[<>]&|[<>]/y;
/** What `f()` goes on with. */
const NO_ARGUMENTS = /\([ \t]*\)/y;
const CASE_END = /;;&?|;&/y;

export class ShellReader extends WordReader {
  readonly #commands = new Commands(this.context.reading, this.context.isUsed);
  #heredocs: Heredoc[] = [];

  readAll(): void {
    while (!this.#isOver) {
      this.readList();
      if (this.text[this.at] === ')') this.reading.isBroken = true;
      this.at++;
    }
  }

  get #isOver(): boolean {
    return this.at >= this.text.length || this.reading.isOver;
  }

  protected override readerOf(text: string, context: LineContext): ShellReader {
    return text === this.text
      ? new ShellReader(text, context, this.hasOddBlank)
      : new ShellReader(text, context);
  }

  protected override printed(): string | undefined {
    return this.#commands.printed();
  }

  protected override markFed(): void {
    this.#commands.current.isFed = true;
  }

  protected override readList(): void {
    let brackets = 0;
    while (!this.#isOver) {
      if (this.#readPlainWord()) continue;
      if (this.reading.steps !== undefined && this.#readCompound()) continue;
      const char = this.text[this.at] ?? '';
      if (char === ')' && brackets === 0) break;
      if (char === '(') brackets++;
      if (char === ')') brackets--;
      if (!this.#skipSeparator(char)) this.#readWord('word');
    }
    this.#end('list');
  }

  /** Goes over what stands between two words. */
  #skipSeparator(char: string): boolean {
    const next = this.text[this.at + 1];
    if (char === ' ' || char === '\t') this.at++;
    else if (char === '\\' && next === '\n') this.at += 2;
    else if (char === '\n') this.#newline();
    else if (char === '#') this.#comment();
    else if (char === '<' || char === '>' || (char === '&' && next === '>')) this.#redirection();
    else if (char === '|') {
      this.at += next === '|' || next === '&' ? 2 : 1;
      this.#end(next === '|' ? 'list' : 'pipe', next === '|' ? '||' : '|');
    } else if (char === ';' || char === '&') {
      const isAnd = char === '&' && next === '&';
      this.at += isAnd ? 2 : 1;
      this.#end('list', isAnd ? '&&' : char);
    } else if (char === '(' || char === ')') {
      this.at++;
      if (char === '(') this.#commands.defineFunction();
      // Some shells take brackets for a pattern: `cat .e(n)v`.
      if (char === '(' && this.#commands.isInWords)
        this.#commands.add({ texts: [UNKNOWN], kind: 'word', isProse: false });
      if (char === '(' && next === '(') this.noteArithmetic(this.at);
      this.#end('list');
      this.#commands.group(char === '(' ? 1 : -1, 'subshell');
    } else return false;
    return true;
  }

  /** Reads what is no list of commands, although it looks like one; only where the structure is wanted. */
  #readCompound(): boolean {
    const char = this.text[this.at] ?? '';
    const commands = this.#commands;
    if (commands.isInPattern) return this.#readPattern(char);
    if (char === ';' && commands.isInCase) {
      const sign = this.take(CASE_END);
      if (sign === '') return false;
      this.#end('list', ';');
      commands.nextPattern();
      return true;
    }
    if (commands.isInTest && /[&|<>()]/.test(char)) {
      this.at++;
      return true;
    }
    if (char !== '(') return false;
    if (commands.startsFunction && this.take(NO_ARGUMENTS) !== '') {
      commands.openFunction();
      return true;
    }
    return commands.mayBeArithmetic && this.takeArithmetic();
  }

  /** `a | b)` of a `case`. */
  #readPattern(char: string): boolean {
    if (char === ')') {
      this.at++;
      this.#commands.endPattern();
    } else if (/[()|;&<>]/.test(char)) this.at++;
    else return false;
    return true;
  }

  #newline(): void {
    this.at++;
    const heredocs = this.#heredocs;
    this.#heredocs = [];
    const copied = heredocs.map(({ command }) => this.#commands.isCopy(command));
    this.#end('newline', '\n');
    for (const [index, heredoc] of heredocs.entries()) {
      this.#heredoc(heredoc, copied[index] === true);
    }
  }

  #comment(): void {
    this.at++;
    this.#commands.add({ texts: [this.take(TO_LINE_END)], kind: 'comment', isProse: true });
  }

  #end(how: 'pipe' | 'list' | 'newline', sign?: CommandSign): void {
    if (this.reading.steps !== undefined) {
      this.#commands.end(how, sign);
      return;
    }
    // `eval` puts its words together before it reads them.
    const line = this.#commands.evaluated();
    if (line !== undefined) this.readInside(line, this.context);
    for (const word of this.#commands.end(how, sign)) this.#readNested(word);
  }

  /** A word that is a command line itself: `sh -c "…"`, `eval "…"`, `ssh host '…'`. */
  #readNested({ texts, isProse }: ShellWord): void {
    if (isProse) return;
    for (const text of texts) if (NESTING.test(text)) this.readInside(text, this.context);
  }

  protected override readInside(text: string, context: LineContext): ShellReader | undefined {
    const { depth } = context;
    if (text === this.text && depth > 0) return undefined;
    if (depth >= DEPTH_MAX) this.reading.leaveOut();
    if (depth >= DEPTH_MAX || !this.reading.budget.takesText(text.length)) return undefined;
    const reader = new ShellReader(text, { ...context, depth: depth + 1 });
    reader.readAll();
    return reader;
  }

  #redirection(): void {
    if (this.peek(REDIRECTION).endsWith('(')) return this.#readWord('word');
    const sign = this.take(REDIRECTION);
    this.take(BLANKS);
    if (sign !== '<<' && sign !== '<<-') return this.#readWord('redirection', sign);
    const command = this.#commands.current;
    const start = this.at;
    const end = this.#delimiter(command);
    const isLiteral = /["'\\]/.test(this.text.slice(start, this.at));
    if (this.#heredocs.length >= HEREDOCS_MAX) this.reading.leaveOut();
    else this.#heredocs.push({ end, isIndented: sign === '<<-', isLiteral, command });
  }

  /** Shells disagree on signs in the word that ends a here-document: then nothing in it is prose. */
  #delimiter(command: SimpleCommand): string {
    const start = this.at;
    this.isMessage = false;
    const pieces = this.pieces();
    const written = this.text.slice(start, this.at);
    if (/[$`\n]/.test(written)) command.isFed = true;
    return heredocDelimiter(pieces, written);
  }

  #heredoc({ end, isIndented, isLiteral, command }: Heredoc, isCopied: boolean): void {
    const start = this.at;
    let until = this.text.length;
    while (until === this.text.length && this.at < this.text.length) {
      const lineStart = this.at;
      const line = this.take(TO_LINE_END);
      this.at++;
      if ((isIndented ? line.replace(/^\t+/, '') : line) === end) until = lineStart;
    }
    const text = this.text.slice(start, until);
    const isProse = isCopied && !mayEndBefore(text, end);
    this.reading.add({ texts: [text], kind: 'heredoc', isProse });
    if (this.reading.steps !== undefined) {
      const plain = isIndented ? text.replace(/^\t+/gm, '') : text;
      command.heredocs.push(...(isLiteral ? [plain] : this.readExpanded(plain)));
    } else if (!isProse) this.readInside(text, this.context);
  }

  /** Most words are a run of letters up to a blank. */
  #readPlainWord(): boolean {
    while (this.text[this.at] === ' ') this.at++;
    const text = this.peek(PLAIN_WORD);
    const next = this.text[this.at + text.length] ?? ' ';
    if (text === '' || text.startsWith('#') || !/[ \t\n;&|()]/.test(next)) return false;
    if (text.includes('=') && ASSIGNMENT.test(text)) return false;
    const isProse = this.#commands.isMessageNext;
    this.at += text.length;
    const mayBeLine = this.hasOddBlank && NESTING.test(text);
    const texts = [text];
    const word: ShellWord =
      this.reading.steps === undefined
        ? { texts, kind: 'word', isProse }
        : { texts, kind: 'word', isProse, ways: [texts], isBare: true };
    this.#commands.add(word, { mayBeLine });
    return true;
  }

  #readWord(kind: 'word' | 'redirection', sign = ''): void {
    const start = this.at;
    this.isMessage = this.#commands.isMessageNext;
    const isProse = this.isMessage && kind === 'word';
    const pieces = this.pieces();
    // A reader that stands still never ends.
    if (this.at === start) this.at++;
    if (pieces.length === 0) return;
    const texts = this.reading.wholeTexts(wordTexts(pieces, this.reading.budget));
    if (kind === 'word' && this.#isDescriptor(texts[0] ?? '')) return;
    const assigns = this.#noteAssignment(pieces, texts);
    const mayBeLine = pieces.some((piece) => this.#mayNest(piece));
    if (this.reading.steps !== undefined) {
      const ways = wordWays(pieces, texts, this.reading.budget);
      const isBare = pieces.every((piece) => piece.kind === 'plain');
      this.#commands.add({ texts, kind, isProse, ways, isBare, assigns }, { sign });
      return;
    }
    const word: ShellWord = { texts, kind, isProse };
    this.#commands.add(word, { mayBeLine });
    if (kind === 'redirection' && mayBeLine) this.#readNested(word);
  }

  /** The number before a redirection, as in `2>x`, or the variable in `{fd}>x`. */
  #isDescriptor(text: string): boolean {
    const next = this.text[this.at];
    if (next !== '<' && next !== '>') return false;
    return /^\d{1,4}$/.test(text) || (this.reading.steps !== undefined && /^\{\w+\}$/.test(text));
  }

  /** The name of a variable that is not set is no command, and neither are several of them. */
  #mayNest(piece: WordPiece): boolean {
    if (piece.kind === 'value') return !this.reading.isUnset(piece.texts);
    return NESTING.test(piece.text);
  }

  /** The name of the variable that a word sets, if it sets any. */
  #noteAssignment(pieces: readonly WordPiece[], texts: readonly string[]): string | undefined {
    const start = plainStart(pieces);
    if (!start.includes('=')) return undefined;
    const [whole = '', name, plus] = ASSIGNMENT.exec(start) ?? [];
    if (name === undefined) return undefined;
    // `a=(x y)`: a list, of which any item may be used.
    if (start === whole && this.text[this.at] === '(') {
      if (this.reading.steps === undefined) this.reading.lose(name);
      else this.#readItems(name, plus === '+');
      return name;
    }
    const values = texts.map((text) => text.slice(whole.length));
    this.reading.assign(name, values, plus === '+');
    return name;
  }

  /** The items of `a=(x y)`. */
  #readItems(name: string, isAppended: boolean): void {
    const items: string[] = [];
    this.at++;
    while (!this.#isOver && this.text[this.at] !== ')') {
      const start = this.at;
      const pieces = this.pieces();
      if (this.at === start) this.at++;
      else items.push(...this.reading.wholeTexts(wordTexts(pieces, this.reading.budget)));
    }
    this.closes();
    this.reading.assign(name, items);
    this.reading.assignList(name, items, isAppended);
  }
}

/** Whether a shell that joins lines at a backslash sees the end of a here-document before we do. */
function mayEndBefore(text: string, end: string): boolean {
  if (!text.includes('\\\n')) return false;
  const lines = text.replaceAll('\\\n', '').split('\n');
  return lines.some((line) => line.replace(/^\t+/, '') === end);
}

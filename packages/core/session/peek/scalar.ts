// A number or one of the three words of JSON, byte by byte as it goes by.
import {
  DOT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  MINUS,
  NINE,
  PLUS,
  UPPER_E,
  ZERO,
} from '../../json/units.ts';

/** How far a scalar has come. */
type Stage =
  | 'start'
  | 'minus'
  | 'zero'
  | 'integer'
  | 'dot'
  | 'fraction'
  | 'exponent'
  | 'sign'
  | 'power'
  | 'word';

/** Stages in which a number may end. */
const COMPLETE: ReadonlySet<Stage> = new Set(['zero', 'integer', 'fraction', 'power']);

export class Scalar {
  private stage: Stage = 'start';
  private word = '';
  private read = 0;

  begin(): void {
    this.stage = 'start';
    this.word = '';
    this.read = 0;
  }

  /** Takes the next byte; false when no scalar goes on like this. */
  take(byte: number): boolean {
    if (this.stage === 'word') return byte === this.word.charCodeAt(this.read++);
    if (this.stage === 'start' && this.beginWord(byte)) return true;
    const next = byte >= ZERO && byte <= NINE ? afterDigit(this.stage, byte) : this.afterSign(byte);
    if (next === undefined) return false;
    this.stage = next;
    return true;
  }

  /** Whether it may end here. */
  get isComplete(): boolean {
    return this.stage === 'word' ? this.read === this.word.length : COMPLETE.has(this.stage);
  }

  private beginWord(byte: number): boolean {
    if (byte === LOWER_T) this.word = 'true';
    else if (byte === LOWER_F) this.word = 'false';
    else if (byte === LOWER_N) this.word = 'null';
    else return false;
    this.stage = 'word';
    this.read = 1;
    return true;
  }

  private afterSign(byte: number): Stage | undefined {
    const { stage } = this;
    if (byte === MINUS && stage === 'start') return 'minus';
    if (byte === DOT && (stage === 'zero' || stage === 'integer')) return 'dot';
    if ((byte === PLUS || byte === MINUS) && stage === 'exponent') return 'sign';
    const isExponent = byte === LOWER_E || byte === UPPER_E;
    return isExponent && stage !== 'power' && COMPLETE.has(stage) ? 'exponent' : undefined;
  }
}

function afterDigit(stage: Stage, digit: number): Stage | undefined {
  switch (stage) {
    case 'start':
    case 'minus':
      return digit === ZERO ? 'zero' : 'integer';
    case 'integer':
      return 'integer';
    case 'dot':
    case 'fraction':
      return 'fraction';
    case 'exponent':
    case 'sign':
    case 'power':
      return 'power';
    default:
      return undefined;
  }
}

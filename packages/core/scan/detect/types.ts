import type { Range } from '../types.ts';

export type FindingClass = 'secret' | 'personal' | 'injection' | 'hidden_text';
export type Confidence = 'certain' | 'likely' | 'hint';
/** A model obeys definitions before a user asks anything, so they are judged more strictly. */
export type Strictness = 'result' | 'definition';

export interface ContentFinding {
  readonly class: FindingClass;
  /** Stable: policies and suppressions name it. */
  readonly rule: string;
  /** Where in the JSON value; null for plain text. A key that is itself a finding is shown by number. */
  readonly path: string | null;
  readonly start: number;
  readonly end: number;
  readonly confidence: Confidence;
  /** A keyed hash of what was found, so that the same value is known again and none can be guessed. */
  readonly fingerprint: string;
  /** Shown to people; never contains the value. */
  readonly label: string;
  /** Set where one value was split over several fields: this is one part of it. */
  readonly part?: { readonly index: number; readonly count: number };
}

export type UnscannedReason =
  | 'too_long'
  | 'too_deep'
  | 'too_many_nodes'
  | 'too_many_findings'
  | 'too_much_work'
  | 'not_json'
  | 'binary';

/** A part that was not scanned. All but `binary` are gaps that a policy may refuse. */
export interface Unscanned {
  readonly reason: UnscannedReason;
  readonly path: string | null;
  /** Units of text, or members and items, that were left out. */
  readonly count: number;
}

export interface ScanVerdict {
  readonly findings: readonly ContentFinding[];
  readonly unscanned: readonly Unscanned[];
  readonly scannedUnits: number;
  /** The work done, counted in units looked at: it grows with the text and not faster. */
  readonly steps: number;
}

export interface ScanLimits {
  /** Units of text over the whole value. */
  readonly unitsMax: number;
  readonly depthMax: number;
  readonly nodesMax: number;
  readonly findingsMax: number;
}

export interface ScanOptions {
  /** A keyed hash, short and the same each time; the key stays with the caller. */
  readonly fingerprint: (text: string) => string;
  /** All classes by default. */
  readonly classes?: readonly FindingClass[];
  readonly strictness?: Strictness;
  readonly limits?: Partial<ScanLimits>;
}

/** A text to scan: the original, or a decoded form of it, with the way back to the original. */
export interface View {
  readonly text: string;
  readonly toSource: (range: Range) => Range;
  /** Whether the source encodes what stands here. */
  readonly isWrapped: (range: Range) => boolean;
}

/** What a detector found in a view. */
export interface DetectorHit extends Range {
  readonly class: FindingClass;
  readonly rule: string;
  readonly label: string;
  /** 1 is a hint, 2 is likely, 3 is certain; anything below is dropped. */
  readonly score: number;
  /** Where the order that the hit begins ends; findings inside of it are findings still. */
  readonly orderEnd?: number;
  /** The text to fingerprint, where it isn't the text of the range. */
  readonly value?: string;
}

/** Counts the work, and ends it when there is too much. */
export interface Meter {
  steps: number;
  readonly stepsMax: number;
}

export interface Detection {
  readonly view: View;
  /** The name of the field that holds the text. */
  readonly field?: string | undefined;
  readonly strictness: Strictness;
  readonly meter: Meter;
  readonly found: (hit: DetectorHit) => void;
}

export const DEFAULT_LIMITS: ScanLimits = {
  unitsMax: 1 << 20,
  depthMax: 64,
  nodesMax: 100_000,
  findingsMax: 1_000,
};

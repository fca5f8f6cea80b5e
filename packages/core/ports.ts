// What the outside must supply. The core has no clock, no randomness and no I/O of its own.

/** SHA-256 of the UTF-8 bytes of a text, as lowercase hex. */
export type Sha256 = (text: string) => string;

/** Signs the UTF-8 bytes of a text with one ed25519 key. */
export interface Signer {
  readonly keyId: string;
  sign(text: string): string;
}

/** Checks an ed25519 signature over the UTF-8 bytes of a text against the keys it trusts. */
export interface Verifier {
  verify(text: string, signature: { readonly keyId: string; readonly value: string }): boolean;
}

/** One event on its way out: a JSON line without its newline. */
export interface EventLine {
  readonly line: string;
  /** What is durable is never dropped; a preview may be, under pressure. */
  readonly kind: 'durable' | 'preview';
  /** Makes of the line that of the same event without its preview. */
  readonly lean?: (line: string) => string;
}

export interface SinkStats {
  readonly queued: number;
  readonly spooled: number;
  readonly previewsDropped: number;
}

/** Where events go. Writing never blocks a call and never throws. */
export interface EventSink {
  write(event: EventLine): void;
  /** Resolves when all that was written is in the ledger, the spool or the file, or time is up. */
  flush(timeoutMs: number): Promise<void>;
  close(timeoutMs: number): Promise<void>;
  stats(): SinkStats;
}

/** Where paths in rules and calls start, and what the disk knows of them. */
export interface ProjectPaths {
  /** The working folder of the run: relative paths start here. */
  readonly project: string;
  readonly home: string;
  readonly tmp: string;
  /** The environment of the servers, for `$NAME` in a path. */
  readonly env: { readonly [name: string]: string | undefined };
  /** The disk takes `A` and `a` for the same name. */
  readonly isCaseless: boolean;
  /** A look at the disk as it is now: it finds where absolute paths lead, each once. */
  lookup(): PathResolver;
  /** Expands patterns of a shell to the absolute paths that are on the disk now. */
  expansion?(): (pattern: string) => Expansion;
}

export interface Expansion {
  readonly paths: readonly string[];
  /** False when the pattern stands for more than the limits allow. */
  readonly isWhole: boolean;
}

/**
 * Resolves links in an absolute path; the part that is not there stays as it is written. Undefined when
 * the path can't be resolved, or when too many were asked for.
 */
export type PathResolver = (path: string) => string | undefined;

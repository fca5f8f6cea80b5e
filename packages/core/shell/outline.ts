// What a command line would do, as far as it can be known without running it.
import { ScriptOutline } from './script-outline.ts';

/** What a command line would do, as far as it can be known without running it. */
export interface CommandOutline {
  /**
   * Every program that would run: in pipelines, lists and substitutions, behind `env`, `sudo`, `xargs`,
   * `sh -c` and `find -exec`, and in here-documents that a shell reads. Builtins such as `cd` count.
   */
  readonly programs: readonly ProgramUse[];
  /**
   * Files that are read. Paths are relative to the folder where the line starts where `cd` is known, or
   * else as they are written; `~` stays. A path may hold wildcards, and `*` for a part that is not known.
   */
  readonly reads: readonly string[];
  /** Folders of which everything is read: `grep -r x .`. */
  readonly trees: readonly string[];
  /** Files that are created, changed, moved or removed, or get other permissions. */
  readonly writes: readonly string[];
  /** Those of them that are gone afterwards, with all that is in them: removed, moved away or exchanged. */
  readonly removes: readonly string[];
  /** What is put into a folder, or in place of a file. */
  readonly puts: readonly PutPath[];
  /** Hosts that it would talk to, in lower case, without ports. */
  readonly hosts: readonly string[];
  /** Every argument that may be a path, redirections included; no options, messages or prose. */
  readonly paths: readonly string[];
  /** The parts that cannot be known; empty when all is understood. */
  readonly opaque: readonly OpaquePart[];
}

export interface ProgramUse {
  /** Without its folder: `git`. */
  readonly name: string;
  /** As it is written: `/usr/bin/git`. */
  readonly path: string;
  readonly args: readonly string[];
  /** Options without their values; `-rf` is there as it is written, and as `-r` and `-f`. */
  readonly flags: readonly string[];
}

/** `cp from to`. */
export interface PutPath {
  /** Undefined where nobody knows what it is: `tar x`. */
  readonly from: string | undefined;
  readonly to: string;
}

export type OpaqueReason =
  /** Which program runs is known to the running shell alone. */
  | 'dynamic_program'
  /** A part of an argument is known to the running shell alone. */
  | 'dynamic_argument'
  /** A program in another language. */
  | 'inline_code'
  /** A shell or interpreter runs what another program prints. */
  | 'decoded_script'
  /** A script is run that this line writes or downloads. */
  | 'written_script'
  | 'sourced_script'
  /** Names may stand for other programs than they say. */
  | 'redefined'
  /** It runs in a terminal, into which more can be typed later. */
  | 'terminal'
  /** More than the limits allow. */
  | 'too_large'
  /** The line is not complete, or shells disagree about it. */
  | 'unreadable';

export interface OpaquePart {
  readonly why: OpaqueReason;
  /** The part in question, shortened. */
  readonly text: string;
}

/** Rules and gates ask about the same line, one behind the other. */
let last: { readonly line: string; readonly outline: CommandOutline } | undefined;

/** Reads a command line without running anything. Never throws. */
export function outlineCommand(line: string): CommandOutline {
  if (last?.line !== line) last = { line, outline: new ScriptOutline(line).outline() };
  return last.outline;
}

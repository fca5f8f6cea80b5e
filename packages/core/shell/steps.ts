// The structure of a script, as a list of steps in the order in which they are written: which commands
// there are, what joins them, and what is inside of what.
import type { ShellWord } from './reading.ts';

export interface Redirection {
  /** `>`, `>>`, `>|`, `>&`, `&>`, `&>>`, `<`, `<&`, `<>` or `<<<`. */
  readonly sign: string;
  readonly word: ShellWord;
}

/** A simple command, or the redirections behind a compound one. */
export interface ScriptCommand {
  readonly words: readonly ShellWord[];
  readonly redirections: readonly Redirection[];
  /** The texts of its here-documents, which stand behind it. */
  readonly heredocs: readonly string[];
  /** `for`, `case` and `select` name variables and items, and run nothing. */
  readonly isHeader: boolean;
}

/** What stands between two commands. */
export type CommandSign = ';' | '&' | '&&' | '||' | '|' | '\n';

export type ShellStep =
  | { readonly kind: 'command'; readonly command: ScriptCommand }
  | { readonly kind: 'sign'; readonly sign: CommandSign }
  /** `else`, `elif`, or the next pattern of a `case`. */
  | { readonly kind: 'branch' }
  | { readonly kind: 'open'; readonly what: BlockKind; readonly functionName?: string | undefined }
  | { readonly kind: 'close' };

/**
 * A subshell or a substitution has its own folder; `>(…)` reads what the command prints. A branching
 * block may run, or may not.
 */
export type BlockKind = 'subshell' | 'substitution' | 'fed_substitution' | 'group' | 'branching';

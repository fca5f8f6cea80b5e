// How the words behind a program's name are to be read.

/** What a program does with one of its words. */
export type Role =
  /** Neither a file nor a host: a number, a pattern, a name, prose. */
  | 'none'
  | 'read'
  | 'write'
  /** Read and changed in place. */
  | 'change'
  /** The same, or behind `+` a command of an editor. */
  | 'edited'
  /** Gone afterwards, with all that is in it. */
  | 'remove'
  /** Gone afterwards, and elsewhere. */
  | 'move'
  /** A path that is only named. */
  | 'path'
  /** The value of an option that is not known: a path if it looks like one. */
  | 'maybe_path'
  /** Read, and changed if it looks like a path: the `-o` of a program that is not known. */
  | 'maybe_write'
  /** An address; without a scheme it is a host and a path. */
  | 'url'
  | 'host'
  /** An address with a scheme, a host, or a file of this machine. */
  | 'page'
  /** `host:path`, or a file of this machine. */
  | 'remote_read'
  | 'remote_write'
  /** Where a repository is: an address, a folder, or a name that the repository knows. */
  | 'repository'
  /** A revision of a repository, a file in one (`HEAD:x`), or a file in the work tree. */
  | 'revision_read'
  | 'revision_write'
  /** `key=value`, of which the value may be a file. */
  | 'setting'
  /** A command line. */
  | 'command'
  /** A file, or behind `|` and `!` a command line. */
  | 'write_or_command'
  /** A program in another language. */
  | 'code'
  /** Only some of the commands of `sed` and `awk` reach files or programs. */
  | 'sed_script'
  | 'awk_script'
  /** An expression of `jq` or `yq`; few of them read other files. */
  | 'query'
  /** A file that holds options, or the names of what is read: what it says is not known. */
  | 'instructions'
  /** What is to be installed: a name, an address or a file. */
  | 'package'
  /** Two words: a name, and a text or a file. */
  | 'named_text'
  | 'named_file'
  /** The value stands in the same word, if there is one: `-i.bak`. */
  | 'glued';

/** What kind of program it is, where operands alone don't tell. */
export type ProgramKind =
  | 'plain'
  /** Runs the command behind its options, and behind `skips` operands. */
  | 'wrapper'
  | 'shell'
  | 'interpreter'
  | 'special';

export interface ProgramSpec {
  readonly kind: ProgramKind;
  /** By position; the last one stands for all that follow. */
  readonly operands: readonly Role[];
  /** The last operand, where there are several. */
  readonly last?: Role | undefined;
  /** Options with a value. */
  readonly values: ReadonlyMap<string, Role>;
  /** Options of a wrapper without a value. */
  readonly flags: ReadonlySet<string>;
  /** With one of these options the first operand is read like the others. */
  readonly replacesFirst?: readonly string[] | undefined;
  /** With one of these options its operands are changed in place. */
  readonly changesWith?: readonly string[] | undefined;
  /** With one of these options, or always, folders among its operands are read with all that is in them. */
  readonly readsTrees?: readonly string[] | undefined;
  /** Puts its operands into the last one, or into the folder that `-t` names. */
  readonly puts: boolean;
  /** First operands that are commands of the program, and no files. */
  readonly verbs: ReadonlySet<string>;
  /** Operands of a wrapper before its command. */
  readonly skips: number;
  /** `-name` is one option, and not four. */
  readonly hasLongDashes: boolean;
  /** By the first operand, such as `commit` of `git`. */
  readonly commands?: ReadonlyMap<string, ProgramSpec> | undefined;
}

export interface SpecDraft {
  readonly kind?: ProgramKind;
  readonly operands?: readonly Role[];
  readonly last?: Role;
  readonly values?: Readonly<Record<string, Role>>;
  readonly flags?: string;
  readonly replacesFirst?: string;
  readonly changesWith?: string;
  readonly readsTrees?: string;
  readonly puts?: boolean;
  readonly verbs?: string;
  readonly skips?: number;
  readonly hasLongDashes?: boolean;
  readonly commands?: Readonly<Record<string, SpecDraft>>;
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

export function specOf(draft: SpecDraft): ProgramSpec {
  return {
    kind: draft.kind ?? 'plain',
    operands: draft.operands ?? ['read'],
    last: draft.last,
    values: expandedKeys(draft.values ?? {}),
    flags: new Set(words(draft.flags ?? '')),
    replacesFirst: draft.replacesFirst === undefined ? undefined : words(draft.replacesFirst),
    changesWith: draft.changesWith === undefined ? undefined : words(draft.changesWith),
    readsTrees: draft.readsTrees === undefined ? undefined : words(draft.readsTrees),
    puts: draft.puts === true,
    verbs: new Set(words(draft.verbs ?? '')),
    skips: draft.skips ?? 0,
    hasLongDashes: draft.hasLongDashes === true,
    commands: draft.commands === undefined ? undefined : specsOf(draft.commands),
  };
}

/** A table in which one key may name several programs. */
export function specsOf(drafts: Readonly<Record<string, SpecDraft>>): Map<string, ProgramSpec> {
  const specs = new Map<string, ProgramSpec>();
  for (const [names, draft] of Object.entries(drafts)) {
    const spec = specOf(draft);
    for (const name of words(names)) specs.set(name, spec);
  }
  return specs;
}

function expandedKeys<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(
    Object.entries(table).flatMap(([names, value]) =>
      words(names).map((name) => [name, value] as const),
    ),
  );
}

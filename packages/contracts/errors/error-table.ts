// Every error code of the product: what it means, where it comes from, what helps. Data only;
// docs/reference/errors.md has a section for each, and a test holds the two together.
import { API_ERRORS } from './api-errors.ts';
import { APPROVAL_ERRORS } from './approval-errors.ts';
import { GUARD_ERRORS } from './cedar-errors.ts';
import { CLIENT_ERRORS } from './client-errors.ts';
import { LINT_ERRORS } from './lint-errors.ts';
import { RUN_ERRORS } from './run-errors.ts';
import { SECRET_ERRORS } from './secret-errors.ts';
import { SURFACE_ERRORS } from './surface-errors.ts';

export interface ErrorEntry {
  readonly title: string;
  readonly cause: string;
  readonly fix: string;
}

const ERRORS = {
  // Bundles: a bundle that has one of these does not compile.
  SUB_BUNDLE_SYNTAX: {
    title: 'The file is not valid YAML or JSON.',
    cause:
      'The text breaks the grammar at the position given, so nothing behind it can be trusted.',
    fix: 'Correct the text at that line and column; most often it is indentation, a missing quote or a missing colon.',
  },
  SUB_BUNDLE_ENCODING: {
    title: 'The file is not valid UTF-8.',
    cause:
      'The bytes at the position given are not UTF-8, or the file holds characters that text may not hold.',
    fix: 'Save the file as UTF-8 without control characters.',
  },
  SUB_BUNDLE_TOO_LARGE: {
    title: 'The bundle is too large.',
    cause: 'The file, or a list in it, is beyond the limit that keeps reading it cheap.',
    fix: 'Split the policy, or replace long lists by globs.',
  },
  SUB_BUNDLE_TOO_DEEP: {
    title: 'The bundle nests too deeply.',
    cause:
      'Objects and lists stand inside each other beyond the limit, or aliases multiply beyond it.',
    fix: 'Flatten the value; no field of a bundle needs deep nesting.',
  },
  SUB_BUNDLE_DUPLICATE_KEY: {
    title: 'A key stands twice in one object.',
    cause: 'Two readers could see two different policies, so neither value is taken.',
    fix: 'Remove one of the two keys.',
  },
  SUB_BUNDLE_MISSING_FIELD: {
    title: 'A required field is missing.',
    cause: 'The contract requires the field here, or another field makes it required.',
    fix: 'Add the field that the message names.',
  },
  SUB_BUNDLE_UNKNOWN_FIELD: {
    title: 'A field is not known.',
    cause:
      'A bundle is read strictly: a misspelt field would otherwise be a rule that silently does nothing.',
    fix: 'Use the field that the message suggests, or remove it.',
  },
  SUB_BUNDLE_UNKNOWN_KIND: {
    title: 'A rule has an unknown kind.',
    cause: 'A rule that is not understood must not be skipped, so the whole bundle is refused.',
    fix: 'Use one of the kinds that the message lists.',
  },
  SUB_BUNDLE_TYPE: {
    title: 'A value has the wrong type.',
    cause:
      'The field wants another type than the one that stands there; unquoted YAML often reads as a number or a boolean.',
    fix: 'Write a value of the type that the message names; quote what should be a string.',
  },
  SUB_BUNDLE_VALUE: {
    title: 'A value is outside what the field takes.',
    cause:
      'The type is right, but the value is not one of those allowed, or is too small, too large, too short or too long.',
    fix: 'Use a value within the limits that the message names.',
  },
  SUB_BUNDLE_DUPLICATE_RULE: {
    title: 'Two rules have the same id.',
    cause: 'Decisions, counters and differences speak of rules by their id, so it must be unique.',
    fix: 'Rename one of the rules.',
  },
  SUB_BUNDLE_REGEX: {
    title: 'A regular expression does not compile.',
    cause:
      'Expressions follow RE2, which runs in linear time and therefore has no backreferences and no lookaround.',
    fix: 'Correct the expression at the position given, or use a glob.',
  },
  SUB_BUNDLE_GLOB: {
    title: 'A glob does not compile.',
    cause: 'The pattern is malformed, or larger than the limit.',
    fix: 'Correct the pattern; `*` matches any characters and `?` matches one.',
  },
  SUB_BUNDLE_WHEN: {
    title: 'A `when` condition does not compile.',
    cause:
      'The text is not valid CEL, names something that does not exist, does not give true or false, or could cost too much.',
    fix: 'Correct the expression; the reference lists the variables and functions.',
  },
  SUB_BUNDLE_CONFLICT: {
    title: 'Two fields contradict each other.',
    cause:
      'Each value is right by itself, but together they cannot be meant: a minimum above its maximum, or a threshold without its window.',
    fix: 'Change or remove one of the two fields.',
  },
  ...LINT_ERRORS,
  // Canonical JSON and hashes.
  SUB_CANON_SYNTAX: {
    title: 'The arguments are not valid JSON.',
    cause: 'The text breaks the JSON grammar, so it has no canonical form and no hash.',
    fix: 'Send valid JSON.',
  },
  SUB_CANON_DUPLICATE_KEY: {
    title: 'The arguments have a key twice.',
    cause:
      'Two readers could see two different values, so such a call is refused. Keys of one object that differ only in case count as one: some servers ignore case.',
    fix: 'Send each key once, and no two that differ only in case.',
  },
  SUB_CANON_DEPTH: {
    title: 'The arguments nest too deeply.',
    cause: 'They are beyond the depth that is hashed.',
    fix: 'Send flatter arguments.',
  },
  SUB_CANON_NUMBER: {
    title: 'A number has no canonical form.',
    cause: 'Its exponent is beyond what can be written out as digits.',
    fix: 'Send a smaller number, or a string.',
  },
  SUB_CANON_NOT_OBJECT: {
    title: 'The arguments are not an object.',
    cause: 'The hash is defined for the arguments object of a tool call.',
    fix: 'Send the arguments as an object.',
  },
  // Snapshots.
  SUB_SNAPSHOT_FORMAT: {
    title: 'The snapshot is not readable.',
    cause: 'It is not a snapshot, or of a format that this version does not know.',
    fix: 'Compile the bundle again with this version.',
  },
  SUB_SNAPSHOT_HASH: {
    title: 'The hash of the snapshot does not match.',
    cause: 'The content is not what was hashed: the file was edited or damaged.',
    fix: 'Compile the bundle again, and never edit a snapshot.',
  },
  SUB_SNAPSHOT_SIGNATURE: {
    title: 'The signature of the snapshot does not hold.',
    cause:
      'A signature is required and missing, was made by another key than those given, or was not made over this content.',
    fix: 'Verify with the public key of whoever signed it, or sign the snapshot again.',
  },
  SUB_SNAPSHOT_KEY: {
    title: 'A key cannot be used.',
    cause:
      'The file given to `--sign` or `--key` holds no ed25519 key in PEM form, or the wrong half of a pair.',
    fix: 'Sign with the private key, verify with the public one; `sub policy keygen` makes both.',
  },
  // Events.
  SUB_EVENT_MALFORMED: {
    title: 'An event breaks contract A.',
    cause:
      'A line is not a JSON object, lacks a required field, or has a value that the contract does not allow.',
    fix: 'Correct the producer; the message names the field.',
  },
  SUB_EVENT_TOO_LONG: {
    title: 'An event is too long.',
    cause: 'The line is longer than a consumer reads.',
    fix: 'Send smaller previews and metadata.',
  },
  SUB_EVENT_CONFLICT: {
    title: 'Two lines have the same number.',
    cause:
      'A sender numbers its lines, and the ledger keeps one line for each number. Another one came under a number that was taken: somebody may have written in the name of that sender.',
    fix: 'Look who can reach the socket of the ledger; `sub ledger verify` tells how often and when.',
  },
  // The shim and its configuration.
  SUB_CONFIG_SYNTAX: {
    title: 'The configuration cannot be read.',
    cause: 'The file config.toml is not valid TOML.',
    fix: 'Correct it at the place given, or move it away.',
  },
  SUB_CONFIG_KEY: {
    title: 'The configuration has an unknown key.',
    cause: 'No setting has this name; a setting that is ignored would be worse than none.',
    fix: 'Use the name that is suggested, or remove it.',
  },
  SUB_CONFIG_VALUE: {
    title: 'A setting has a wrong value.',
    cause:
      'The value in config.toml, the environment or a flag is not of the type or range it takes.',
    fix: 'Write a value that docs/reference/config.md lists for it.',
  },
  SUB_HOME_UNSAFE: {
    title: 'The folder of Subluminal is not safe.',
    cause:
      'Others can write to it, or it is not ours: they could put their policy in place of ours.',
    fix: 'Run the `chmod` that is given, or set SUB_HOME to a folder of your own.',
  },
  SUB_SHIM_START: {
    title: 'The shim did not start.',
    cause:
      'Its policy, its configuration or its folder cannot be used, so nothing would be governed.',
    fix: 'Mend what the message names; `sub policy lint` checks a policy.',
  },
  ...SECRET_ERRORS,
  ...SURFACE_ERRORS,
  ...GUARD_ERRORS,
  ...RUN_ERRORS,
  ...CLIENT_ERRORS,
  ...APPROVAL_ERRORS,
  // The ledger.
  SUB_LEDGER_MISSING: {
    title: 'There is no ledger.',
    cause: 'The file does not exist yet, because nothing was recorded under this home folder.',
    fix: 'Run an agent through Subluminal first, take events in with `sub ingest`, or set SUB_HOME to the folder that holds the ledger.',
  },
  SUB_LEDGER_LOCKED: {
    title: 'Another process writes to the ledger.',
    cause: 'A ledger has one writer at a time, and another command is writing.',
    fix: 'Try again when it has ended.',
  },
  SUB_LEDGER_BUSY: {
    title: 'The ledger is busy.',
    cause: 'Another connection held the database for longer than the time limit.',
    fix: 'Try again; when it lasts, look for a program that keeps the file open.',
  },
  SUB_LEDGER_FULL: {
    title: 'The ledger cannot grow.',
    cause: 'The disk is full, or the file has reached the size that the configuration allows.',
    fix: 'Free some space elsewhere on the disk, or move the ledger to another one; `sub ledger prune` needs some room itself before it gives space back. Nothing that was stored is lost.',
  },
  SUB_LEDGER_READ_ONLY: {
    title: 'The ledger cannot be written.',
    cause: 'The file or its folder may only be read.',
    fix: 'Give your user the right to write the file and its folder.',
  },
  SUB_LEDGER_CORRUPT: {
    title: 'The ledger is damaged.',
    cause: 'The file is no readable SQLite database any more.',
    fix: 'Move the file away and restore a backup, or let `sqlite3 ledger.db .recover` save what is left; then run `sub ledger verify`.',
  },
  SUB_LEDGER_FOREIGN: {
    title: 'The file is not a ledger.',
    cause: 'It is a database of something else.',
    fix: 'Point the configuration to the ledger, or move the file away.',
  },
  SUB_LEDGER_NEWER: {
    title: 'The ledger was written by a newer version.',
    cause: 'Its schema is one that this version does not know, and guessing could destroy it.',
    fix: 'Update Subluminal.',
  },
  SUB_LEDGER_ROLLED_BACK: {
    title: 'The ledger is older than its last signed head.',
    cause:
      'The database was replaced, restored from a backup, or cut; `ledger.head` knows of more.',
    fix: 'Restore the database that belongs to `ledger.head`; or accept the loss with `sub ledger accept`, which records it in the ledger for good.',
  },
  SUB_LEDGER_TAMPERED: {
    title: 'The ledger was changed by something else.',
    cause:
      'What is stored does not follow from what this process wrote or from what was signed: events without a head, a ledger without its `ledger.head`, events behind the end.',
    fix: 'Run `sub ledger verify` to see what is wrong. Then restore a backup; or go on with what is there by `sub ledger accept`, which records that in the ledger for good.',
  },
  SUB_LEDGER_QUERY: {
    title: 'A question to the ledger is malformed.',
    cause: 'A filter, a limit or a cursor is not one that the ledger gives or takes.',
    fix: 'Correct the filter that the message names; start without a cursor.',
  },
  SUB_LEDGER_IO: {
    title: 'The ledger cannot be read or written.',
    cause: 'The operating system or SQLite reported an error.',
    fix: 'Check the disk, the folder and its permissions.',
  },
  ...API_ERRORS,
  // The command line.
  SUB_USAGE: {
    title: 'The command was called wrongly.',
    cause:
      'An option or argument is unknown, missing or contradictory, or a file is of another kind than the command reads.',
    fix: 'See `sub help` and the help of the command.',
  },
  SUB_FILE_READ: {
    title: 'A file cannot be read.',
    cause: 'It does not exist, may not be read, or is not a file.',
    fix: 'Check the path and its permissions.',
  },
  SUB_FILE_UNSAFE: {
    title: 'Others can change a file that decides.',
    cause:
      'The file or a folder above it belongs to another user, or others can write to it, so that it may say what they want.',
    fix: 'Run the command that the message names (`chmod go-w …`, `chown …`), or move the file to a folder of your own.',
  },
  SUB_FILE_WRITE: {
    title: 'A file cannot be written.',
    cause: 'The folder does not exist, may not be written, or the disk is full.',
    fix: 'Check the path, its permissions and the free space.',
  },
  SUB_INTERNAL: {
    title: 'Subluminal has a bug.',
    cause: 'Something happened that the code holds to be impossible.',
    fix: 'Report it with the message and the version.',
  },
} as const satisfies { readonly [code: string]: ErrorEntry };

export type SubCode = keyof typeof ERRORS;

export const ERROR_CODES: readonly SubCode[] = Object.keys(ERRORS).filter(isCode);

function isCode(name: string): name is SubCode {
  return Object.hasOwn(ERRORS, name);
}

export function errorEntry(code: SubCode): ErrorEntry & { readonly code: SubCode } {
  return { code, ...ERRORS[code] };
}

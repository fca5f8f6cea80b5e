// What keeps a manifest or the pins from being used; a part of the table in errors.ts.

const SURFACE_ERRORS = {
  SUB_MANIFEST_SYNTAX: {
    title: 'The manifest cannot be read.',
    cause:
      'The file is not valid YAML in UTF-8, has a key twice, or is too large or too deep, so nothing in it can be trusted.',
    fix: 'Correct the text at that line and column.',
  },
  SUB_MANIFEST_FIELD: {
    title: 'The manifest has a wrong field, or lacks one.',
    cause: 'A manifest is closed: a field that nobody reads would give a false sense of safety.',
    fix: 'Rename, add or remove the field as the message says.',
  },
  SUB_MANIFEST_VALUE: {
    title: 'A field of the manifest has a wrong value.',
    cause:
      'The value is of another type, out of its range, or no rate, duration, glob or expression.',
    fix: 'Write it in the form that the message shows.',
  },
  SUB_MANIFEST_CONFLICT: {
    title: 'Two parts of the manifest contradict each other.',
    cause: 'No call could follow both, and taking either of them would be a guess.',
    fix: 'Keep the one that is meant.',
  },
  SUB_PINS_UNREADABLE: {
    title: 'The pins cannot be read.',
    cause:
      'The file pins.json is not what Subluminal wrote: it was edited, damaged, or comes from a newer version.',
    fix: 'Restore the file from a backup; or move it away, and every tool is remembered anew on first sight.',
  },
} as const;

export { SURFACE_ERRORS };

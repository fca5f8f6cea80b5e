// What keeps a manifest or the pins from being used; a part of the table in errors.ts.

export const SURFACE_ERRORS = {
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
  SUB_MANIFEST_UNSAFE: {
    title: 'Others could change the manifest.',
    cause:
      'The manifest or its folder belongs to another user or can be written to by others, so it says nothing about what its owner allows.',
    fix: 'Run the `chmod` that is given, or set `surface.manifests` to a folder of your own.',
  },
  SUB_PINS_UNREADABLE: {
    title: 'The pins cannot be read.',
    cause:
      'The file pins.json is not what Subluminal wrote and signed with the key of the home: it was edited, damaged, or comes from another version.',
    fix: 'Look at the pins and sign them with `sub pins sign`, if they can be read; restore the file from a backup; or run `sub pins reset`, and every tool is remembered anew on first sight.',
  },
  SUB_PINS_BUSY: {
    title: 'Another process is changing the pins.',
    cause:
      'One process at a time may change them, and the others have not ended within ten seconds.',
    fix: 'Wait for the other process to end, and try again.',
  },
  SUB_PINS_CHANGED: {
    title: 'The pins have changed meanwhile.',
    cause: 'Between what was shown and what was to be accepted, another process has changed them.',
    fix: 'Run the command again, and look at what it shows now.',
  },
  SUB_SERVER_UNKNOWN: {
    title: 'No client knows how to start this server.',
    cause:
      'The server is not in the configs of the clients, is reached by an address, or several clients start it in different ways.',
    fix: 'Correct the name, choose with `--client`, or give its command behind `--`.',
  },
  SUB_SERVER_LOOK: {
    title: 'The server could not be looked at.',
    cause:
      'It did not start, ended, did not answer in time, or answered with what is no MCP or too much of it.',
    fix: 'Run its command by hand and look at what it says; give it more time with `--timeout`.',
  },
} as const;

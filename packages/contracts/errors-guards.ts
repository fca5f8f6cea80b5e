// What keeps a taint section or Cedar policies from being used; a part of the table in errors.ts.

const GUARD_ERRORS = {
  SUB_TAINT_SYNTAX: {
    title: 'The taint section cannot be read.',
    cause:
      'The file is not valid YAML in UTF-8, has a key twice, or is too large or too deep, so nothing in it can be trusted.',
    fix: 'Correct the text at that line and column.',
  },
  SUB_TAINT_FIELD: {
    title: 'The taint section has a wrong field, or lacks one.',
    cause: 'The section is closed: a field that nobody reads would give a false sense of safety.',
    fix: 'Rename, add or remove the field as the message says.',
  },
  SUB_TAINT_VALUE: {
    title: 'A field of the taint section has a wrong value.',
    cause: 'The value is of another type, out of its range, or a glob that does not compile.',
    fix: 'Write it in the form that the message shows.',
  },
  SUB_CEDAR_FILES: {
    title: 'The Cedar policies cannot be loaded.',
    cause:
      'The folder or a file in it cannot be read, is not UTF-8, is too large, or holds no policy.',
    fix: 'Do what the message says; policies are files that end with `.cedar`.',
  },
  SUB_CEDAR_SYNTAX: {
    title: 'A Cedar policy does not parse.',
    cause:
      'The text breaks the grammar of Cedar at the position given, or is a template, which is not supported.',
    fix: 'Correct the policy at that line and column.',
  },
  SUB_CEDAR_POLICY: {
    title: 'A Cedar policy does not fit the schema.',
    cause:
      'It names an entity type, action, argument or annotation that does not exist, compares values of different types, reads an argument that may be absent, or shares its id with another policy.',
    fix: 'Correct the policy, or declare its arguments in the schema.',
  },
  SUB_CEDAR_SCHEMA: {
    title: 'The Cedar schema cannot be used.',
    cause:
      'It does not parse, names a type that is not declared, or declares what the product itself declares.',
    fix: 'Correct it at that line and column; declare `type Arguments` and types of your own, nothing else.',
  },
  SUB_CEDAR_ENTITIES: {
    title: 'The Cedar entities cannot be used.',
    cause: 'The file is not a JSON list of entities, has one twice, or does not fit the schema.',
    fix: 'Write each entity as `{ "uid": { "type", "id" }, "attrs": {}, "parents": [] }`.',
  },
} as const;

export { GUARD_ERRORS };

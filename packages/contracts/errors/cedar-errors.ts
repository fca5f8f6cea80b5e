// What keeps Cedar policies from being used; a part of the table in errors.ts.

export const GUARD_ERRORS = {
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

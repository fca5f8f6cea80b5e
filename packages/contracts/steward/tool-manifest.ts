// tool.capabilities.json: what a sandboxed tool is and what it may reach. The host enforces it, whatever the code
// does. Secrets are references, never values.
import {
  array,
  boolean,
  closed,
  defaulted,
  type Infer,
  integer,
  oneOf,
  optional,
  record,
  required,
  string,
} from '../shape/shape.ts';

const name = string({ lengthMax: 64 });
const text = string({ lengthMax: 2_000 });
const TYPES = ['string', 'number', 'integer', 'boolean'] as const;

const PROPERTY = closed({
  type: required(oneOf(...TYPES, 'array'), 'What it is; lists are of one type.'),
  description: defaulted(text, 'An argument.', 'What it is for.'),
  enum: optional(
    array(string({ lengthMax: 200 }), { itemsMin: 1, itemsMax: 100 }),
    'All that a string may be.',
  ),
  items: optional(closed({ type: required(oneOf(...TYPES), 'The type.') }), 'What a list is of.'),
});

const INPUT = closed({
  type: required(oneOf('object'), 'Arguments are an object.'),
  properties: defaulted(record(PROPERTY), {}, 'The arguments, by name.'),
  required: defaulted(array(name, { itemsMax: 50 }), [], 'Those that may not be left out.'),
  additionalProperties: optional(boolean(), 'Others are refused in any case.'),
});

const HOST = closed({
  host: required(string({ lengthMax: 253 }), 'A name such as `api.example.com`, reached by https.'),
  paths: defaulted(
    array(string({ lengthMax: 500 }), { itemsMin: 1, itemsMax: 50 }),
    ['/'],
    'Paths there: one that ends with `/` stands for all below it.',
  ),
  methods: defaulted(
    array(oneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'), { itemsMin: 1, itemsMax: 6 }),
    ['GET'],
    'What may be done there.',
  ),
});

const SECRET = closed({
  ref: required(string({ lengthMax: 1_024 }), 'A reference to the secret.'),
  host: required(string({ lengthMax: 253 }), 'The one host that gets it.'),
  header: required(name, 'The header that it is sent in.'),
  prefix: optional(string({ lengthMax: 32 }), 'What stands before it there, such as `Bearer `.'),
});

const LIMITS = closed({
  time_ms: defaulted(integer({ min: 10, max: 60_000 }), 5_000, 'How long a use may take.'),
  memory_mb: defaulted(integer({ min: 1, max: 256 }), 32, 'Memory of the tool.'),
  requests: defaulted(integer({ min: 0, max: 50 }), 10, 'Requests and files of one use.'),
  response_kb: defaulted(integer({ min: 1, max: 4_096 }), 512, 'An answer or a file.'),
  output_kb: defaulted(integer({ min: 1, max: 1_024 }), 64, 'The result, and what is logged.'),
});

export const TOOL_MANIFEST = closed({
  name: required(name, 'The name of the tool, which is that of its folder.'),
  description: required(text, 'What it does, for the model.'),
  input: required(INPUT, 'Its arguments, as a flat JSON Schema.'),
  reads_only: defaulted(boolean(), false, 'Whether it changes nothing anywhere.'),
  hosts: defaulted(array(HOST, { itemsMax: 20 }), [], 'Where its requests may go.'),
  files: defaulted(
    array(string({ lengthMax: 4_096 }), { itemsMax: 50 }),
    [],
    'Files that it may read, by absolute path; one that ends with `/` is a folder.',
  ),
  secrets: defaulted(
    array(SECRET, { itemsMax: 10 }),
    [],
    'Secrets that the host adds to its requests.',
  ),
  limits: defaulted(LIMITS, {}, 'Its limits.'),
});

export type ToolManifest = Infer<typeof TOOL_MANIFEST>;
